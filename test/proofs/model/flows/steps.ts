/** Steps with flows. Flows are small, and the newest ones are met most often. */
import { array, constant, nat, tuple, type Arbitrary } from "fast-check";
import { group, leaseTime, maybe, oneOf, pull, record, settlement, settlementOf } from "../arbitraries.ts";
import type { Operation } from "../operations.ts";
import type { ModelTask } from "../state.ts";
import { step } from "../step.ts";
import type { World } from "../world.ts";
import { throughFailure } from "./passages.ts";
import type { FlowOperationItem, FlowOperationTask } from "./operations.ts";
import { type ModelFlow, nodeId, type QueueName } from "./state.ts";

const options = (grouped: boolean) =>
  record(
    {
      payload: oneOf<unknown>(0, "", { to: "a@example.com" }),
      headers: maybe(constant({ from: "edge" }), 6),
      delay: maybe(oneOf(1, 700), 6),
      lease: maybe(leaseTime, 6),
      maxAttempts: maybe(oneOf(0, 1, 2), 1),
      resultTtl: maybe(oneOf(0, 1_000, 400_000), 4),
      deadTtl: maybe(oneOf(0, 1_000, 400_000), 4),
      ...(grouped && { group: maybe(group, 2) }),
    },
    { requiredKeys: ["payload"] },
  );

interface DrawnItem {
  readonly waits: readonly { readonly for: number; readonly on: "completed" | "ended" }[];
  readonly queue: QueueName;
  readonly options: Omit<FlowOperationTask, "ref" | "queue" | "after">;
  readonly inner: readonly DrawnItem[] | undefined;
}

const drawnItems = (grouped: boolean, depth: number): Arbitrary<readonly DrawnItem[]> =>
  array(
    record({
      waits: array(record({ for: nat(4), on: oneOf("completed", "completed", "ended") }), { maxLength: 2 }),
      queue: oneOf("emails", "emails", "emails", "audits"),
      options: options(grouped),
      inner: depth > 0 ? maybe(drawnItems(grouped, depth - 1), 5) : constant(undefined),
    }),
    { minLength: depth > 0 ? 1 : 0, maxLength: depth > 0 ? 5 : 3, size: "max" },
  );

/** Items wait only for those before them, so there is no cycle. */
function written(drawn: readonly DrawnItem[]): FlowOperationItem[] {
  return drawn.map(({ waits, queue, options: given, inner }, i): FlowOperationItem => {
    const named = new Map(waits.map(({ for: place, on }) => [`t${place % Math.max(1, i)}`, on]));
    const after = i === 0 ? [] : Array.from(named, ([ref, on]) => (on === "completed" ? ref : { ref, on }));
    const at = { ref: `t${i}`, ...(after.length > 0 && { after }) };
    return inner ? { ...at, flow: written(inner) } : { ...at, queue, ...given };
  });
}

const hasTask = (items: readonly FlowOperationItem[]): boolean =>
  items.some((item) => !("flow" in item) || hasTask(item.flow));

/**
 * A task of a flow, by random numbers: of the newest flows.
 * @param fits those from which it is chosen. @default all
 */
function idOf(
  world: World,
  [back, place]: readonly [number, number],
  fits: (task: ModelTask) => boolean = () => true,
): string | undefined {
  const flows = world.flows?.newest ?? [];
  const flow = flows[back % Math.max(1, Math.min(4, flows.length))];
  const tasks = flow?.nodes.filter(({ kind, queue }) => kind === "task" && queue === world.name) ?? [];
  const ids = tasks.map(({ number }) => nodeId(flow as ModelFlow, number));
  const fitting = ids.filter((id) => fits(world.queue.tasks.get(id) ?? ({} as ModelTask)));
  return fitting[place % Math.max(1, fitting.length)];
}

/** Whether something that a task waited for has ended. */
const hasBefore = ({ node }: ModelTask) => (node?.before.length ?? 0) > 0;

const hasFailed = ({ state, reason }: ModelTask) => state === "rejected" && reason === "rejected";

function flowAt(world: World, back: number): string {
  const flows = world.flows?.newest ?? [];
  return flows[back % Math.max(1, Math.min(4, flows.length))]?.id ?? "f0@emails";
}

const place = tuple(nat(3), nat(20));

/** A call on nodes. */
const onNode = (
  weight: number,
  make: (id: string, world: World) => Operation | undefined,
  where: (world: World) => World = here,
  fits?: (task: ModelTask) => boolean,
) =>
  step(
    weight,
    place,
    (drawn, world) => {
      const id = idOf(where(world), drawn, fits);
      return id === undefined ? undefined : make(id, world);
    },
    where,
  );

const here = (world: World): World => world;

/** In the other queue. */
const beside = (world: World): World => world.beside ?? world;

/** Most of them end their tasks. */
const settlements = array(
  tuple(settlement, oneOf("complete", "complete", "reject", undefined)).map(([drawn, end]) =>
    end === undefined ? drawn : { ...drawn, outcome: end },
  ),
  { minLength: 1, maxLength: 3 },
);
type Drawn = typeof settlements extends Arbitrary<infer T> ? T : never;

/** Settlements of what was dequeued last. */
function itemsOf(drawn: Drawn, { receipts }: World) {
  return drawn.flatMap((one) => {
    const receipt = receipts.at(-1 - (one.receipt % Math.max(1, Math.min(4, receipts.length))));
    return receipt === undefined ? [] : [settlementOf(one, receipt)];
  });
}

const settleStep = (weight: number, where: (world: World) => World) =>
  step(
    weight,
    tuple(settlements, maybe(pull, 2)),
    ([drawn, next], world): Operation | undefined => {
      const at = where(world);
      const items = itemsOf(drawn, at).map(({ queue: _, ...item }) => item);
      if (items.length === 0) return undefined;
      return next ? { does: "settle", items, pull: next } : { does: "settle", key: at.newKey(), items };
    },
    where,
  );

export function flowSteps(isOn: boolean, grouped: boolean) {
  const weight = (times: number) => (isOn ? times : 0);
  const addFlow = tuple(drawnItems(grouped, 1), oneOf(undefined, "cancel"), nat(9));
  const added = (
    [drawn, onFailure, again]: [readonly DrawnItem[], "cancel" | undefined, number],
    world: World,
  ) => {
    const items = written(drawn);
    if (!hasTask(items)) return undefined;
    const known = world.flows?.newest[0]?.id.split("@")[0];
    const id = again === 0 && known !== undefined ? known : world.newId();
    return { does: "addFlow", id, items, ...(onFailure && { onFailure }) } as const;
  };
  return [
    step(weight(16), addFlow, added),
    throughFailure(weight(5)),
    settleStep(weight(12), here),
    settleStep(weight(14), beside),
    step(weight(16), pull, (given) => ({ does: "dequeue", ...given }), beside),
    onNode(weight(4), (id) => ({ does: "cancel", id })),
    onNode(weight(3), (id) => ({ does: "cancel", id }), beside),
    onNode(weight(3), (id) => ({ does: "get", id })),
    onNode(weight(2), (id) => ({ does: "get", id }), beside),
    onNode(weight(2), (id) => ({ does: "remove", id })),
    onNode(weight(2), (id) => ({ does: "remove", id }), beside),
    onNode(weight(2), (id, { newKey, queue }) =>
      // One that is not added yet would be replaced.
      queue.tasks.has(id)
        ? { does: "enqueue", key: newKey(), tasks: [{ id, payload: 0 }], waker: false }
        : undefined,
    ),
    onNode(weight(5), (id) => ({ does: "redriveIds", ids: [{ id }] })),
    onNode(weight(4), (id) => ({ does: "redriveIds", ids: [{ id }] }), beside),
    onNode(weight(4), (id) => ({ does: "redriveIds", ids: [{ id }] }), here, hasFailed),
    onNode(weight(5), (id) => ({ does: "before", id }), here, hasBefore),
    onNode(weight(4), (id) => ({ does: "before", id }), beside, hasBefore),
    step(weight(4), nat(3), (back, world) => ({ does: "cancelFlow", id: flowAt(world, back) })),
    step(weight(4), nat(3), (back, world) => ({ does: "redriveFlow", id: flowAt(world, back) })),
    step(weight(3), oneOf("counts"), (does) => ({ does }), beside),
    step(weight(3), oneOf(1, 100), (size) => ({ does: "list", state: "blocked", size })),
    step(weight(1), maybe(oneOf(1, 3), 1), (limit) => ({ does: "purge", state: "blocked", limit })),
    step(
      weight(1),
      oneOf("blocked", "pending", "rejected", "completed"),
      (state) => ({ does: "purge", state }),
      beside,
    ),
    step(weight(8), oneOf(true, false, false), (once) => ({
      does: "sweep",
      limit: 1_000,
      waker: false,
      once,
    })),
    // Callers that die between their requests.
    step(weight(8), tuple(addFlow, nat(2)), ([drawn, requests], world) => {
      const operation = added(drawn, world);
      return operation && { does: "dying", requests, operation };
    }),
    ...[here, beside].map((where) =>
      step(
        weight(10),
        tuple(settlements, nat(3)),
        ([drawn, requests], world) => {
          const items = itemsOf(drawn, where(world));
          if (items.length === 0) return undefined;
          return {
            does: "dying",
            requests,
            operation: { does: "settle", key: where(world).newKey(), items },
          };
        },
        where,
      ),
    ),
    step(weight(4), tuple(place, nat(4)), ([drawn, requests], world) => {
      const id = idOf(world, drawn);
      return id === undefined ? undefined : { does: "dying", requests, operation: { does: "cancel", id } };
    }),
    step(
      weight(4),
      tuple(nat(3), nat(8), oneOf("cancelFlow", "redriveFlow")),
      ([back, requests, does], world) => ({
        does: "dying",
        requests,
        operation: { does, id: flowAt(world, back) },
      }),
    ),
  ];
}
