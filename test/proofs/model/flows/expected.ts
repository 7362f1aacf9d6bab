/** The expected answers of calls on flows, and what other calls do for flows. Computing them changes the model. */
import { zsetIn } from "../../../support/key-space.ts";
import { type Copy, expectedOf } from "../expected.ts";
import { redriveByIds } from "../operate.ts";
import type { Of } from "../operations.ts";
import type { Happened } from "../real.ts";
import { sweepAll } from "../sweep.ts";
import type { World } from "../world.ts";
import { type Flows, planOf } from "./flows.ts";
import type { FlowOperation } from "./operations.ts";
import { Caller } from "./outbox.ts";
import { nodeId, QUEUES, type QueueName } from "./state.ts";

type Expected = {
  readonly [D in FlowOperation["does"]]: (
    world: World,
    operation: Of<D>,
    happened: Happened,
    copy: Copy,
  ) => unknown;
};

const NOT_FOUND = { ok: false, code: "not_found" };
const DIED = { refused: "redis_unreachable" };

const flowsOf = ({ flows }: World) => flows as Flows;
const callerOf = (world: World) => new Caller(flowsOf(world), world.now, world.requestsLeft);

export const FLOWS_EXPECTED: Expected = {
  addFlow: (world, { id, items, onFailure }, { nth }, copy) => {
    const flows = flowsOf(world);
    const { home, planned } = planOf(items);
    const added = flows.add(id, items, world.now, { nth, onFailure });
    if (added === "queue_full") return { refused: added };
    const { members } = added.flow;
    if (copy !== "unheard" && members.length > 0 && added.by !== "others") {
      Caller.attempt(() => {
        const caller = callerOf(world);
        if (added.by === "copy") return caller.empty(home);
        caller.request();
        for (const member of members) flows.addPiece(member, world.now);
        caller.request();
        for (const member of members) flows.remove(home, member);
      });
    }
    const tasks = planned.flatMap(({ kind, ref, number }) =>
      kind === "task" ? [[ref, `${number}{${id}@${home}}`] as const] : [],
    );
    return { id: `${id}@${home}`, created: added.by !== "others", tasks: Object.fromEntries(tasks) };
  },

  cancelFlow: (world, { id }) => {
    const flow = flowsOf(world).flow(id);
    if (!flow || !flowsOf(world).isKnown(flow)) return NOT_FOUND;
    const caller = callerOf(world);
    const done = Caller.attempt(() => {
      caller.empty(flow.home);
      return [caller.cancelFlow(flow, "a")];
    });
    if (!done) return DIED;
    const [sum] = done;
    return sum ? { ok: true, cancelled: sum.cancelled, flagged: sum.flagged } : NOT_FOUND;
  },

  redriveFlow: (world, { id }, _, copy) => {
    const flows = flowsOf(world);
    const flow = flows.flow(id);
    if (!flow || !flows.isKnown(flow)) return NOT_FOUND;
    const caller = callerOf(world);
    const done = Caller.attempt(() => {
      caller.request();
      caller.request();
      caller.request();
      let count = 0;
      const names = new Set<QueueName>();
      for (const name of QUEUES) {
        const { queue } = flows.nodes(name);
        const ids = flow.nodes.flatMap(({ kind, number, queue: own }) =>
          kind === "task" && own === name ? [nodeId(flow, number)] : [],
        );
        const failed = ids.filter((one) => {
          const task = queue.tasks.get(one);
          return task?.state === "rejected" && task.kept && task.reason !== "dependency_failed";
        });
        count += failed.length;
        if (failed.length > 0) names.add(name);
        redriveByIds(
          queue,
          world.now,
          ids.map((one) => ({ id: one })),
        );
      }
      const inOrder = new Set(flow.nodes.flatMap(({ kind, queue }) => (kind === "task" ? [queue] : [])));
      for (const name of inOrder) if (names.has(name) && copy !== "unheard") reopened(caller, flows, name);
      return { ok: true, redriven: count };
    });
    return done ?? DIED;
  },

  before: (world, { id }) => {
    const flows = flowsOf(world);
    const node = flows.nodes(world.name as QueueName).node(id);
    if (!node || node.state === "ghost") return {};
    const { before, flow } = node.node;
    const found = before.map(({ ref, number, queue }) => {
      const source = flows.nodes(queue).node(nodeId(flow, number));
      if (source?.state === "completed")
        return [
          ref,
          { state: "completed", ...(source.text !== undefined && { result: source.text }) },
        ] as const;
      if (source?.state !== "rejected") return [ref, { state: null }] as const;
      const error = source.text === undefined ? {} : { error: source.text };
      return [ref, { state: "rejected", ...error, reason: source.reason }] as const;
    });
    return Object.fromEntries(found);
  },

  dying: (world, { requests, operation }, happened, copy) => {
    world.requestsLeft = requests;
    const expected = expectedOf(world, operation, happened, copy);
    world.requestsLeft = Number.POSITIVE_INFINITY;
    return expected;
  },
};

/** What a settle has left to be notified, its caller notifies, unless it has not got the reply. */
export function sendsSettled(world: World, copy: Copy): () => void {
  const nodes = world.queue.flows;
  if (!nodes || copy === "unheard") return () => {};
  const left = [...nodes.left];
  const caller = callerOf(world);
  return () => void Caller.attempt(() => left.length > 0 && caller.send(left));
}

/** The caller empties the outbox of the queue. */
export function emptied(world: World): void {
  const name = world.queue.flows?.name;
  if (name) Caller.attempt(() => callerOf(world).empty(name));
}

/** The caller of a redrive reads the outbox of the queue, notes that it has nodes, and empties it. */
export function redriven(world: World): void {
  const { flows, queue } = world;
  if (flows && queue.flows) reopened(callerOf(world), flows, queue.flows.name);
}

function reopened(caller: Caller, flows: Flows, name: QueueName): void {
  Caller.attempt(() => {
    caller.request();
    if (flows.nodes(name).living === 0) return;
    caller.request();
    caller.empty(name);
  });
}

/** After a dequeue that has ended last leases of nodes, its caller empties the outbox; then it does what else is left. */
export function sendsTaken(world: World, copy: Copy, settled?: () => void): () => void {
  let known = world.queue.deadLetters.length;
  let left = settled;
  return () => {
    const more = world.queue.deadLetters.slice(known);
    known = world.queue.deadLetters.length;
    if (copy !== "unheard" && more.some(({ id }) => NODE.test(id))) emptied(world);
    left?.();
    left = undefined;
  };
}

/** The id of a node. */
export const NODE = /^\w+\{.+@.+\}$/;

/** A cancel of a task notifies no node itself, but its caller empties the outbox. */
export function cancelled<T extends { readonly ok: boolean; readonly state?: string }>(
  world: World,
  id: string,
  copy: Copy,
  cancel: () => T,
): T {
  const nodes = world.queue.flows;
  if (!nodes) return cancel();
  nodes.leavesAll = true;
  const answer = cancel();
  nodes.leavesAll = false;
  if (NODE.test(id) && answer.state === "rejected" && copy !== "unheard")
    Caller.attempt(() => callerOf(world).empty(nodes.name));
  return answer;
}

/** A sweep of both queues, which also empties the outboxes of those that the registry notes. */
export function sweptFlows(world: World, limit: number, { registry }: Happened) {
  const counts = { promoted: 0, reclaimed: 0, rejected: 0, expired: 0 };
  for (const { name, queue } of [world, world.beside as World]) {
    if (!registry.has(name)) continue;
    const swept = sweepAll(queue, world.now, limit);
    for (const key of ["promoted", "reclaimed", "rejected", "expired"] as const) counts[key] += swept[key];
  }
  const notes = [...registry].filter(([member]) => member.startsWith("~^"));
  for (const [note] of notes.toSorted(([, one], [, other]) => one - other))
    callerOf(world).empty(note.slice(2) as QueueName);
  world.queue.deadLetters.push(...(world.beside as World).queue.deadLetters);
  return { ...counts, more: false, scheduled: 0, woken: 0, failed: [] };
}

/** A deep sweep first does what is under way in flows that have their home in the queue. */
export function sweptDeep(world: World): void {
  const { flows, queue } = world;
  if (!flows || !queue.flows || queue.flows.living === 0) return;
  const { name } = queue.flows;
  const own = flows.newest.filter((flow) => flow.home === name && flows.isKnown(flow));
  const names = new Set(own.flatMap(({ nodes }) => [name, ...nodes.map((one) => one.queue)]));
  for (const one of names) callerOf(world).empty(one);
}

/** The names of notes without which no sweep would find a queue's nodes. */
export function notesMissing({ queue, beside }: World, { keys }: Happened): string[] {
  const registry = zsetIn(keys, "sluice:queues");
  return [queue, beside?.queue].flatMap((one) => {
    const nodes = one?.flows;
    if (!nodes) return [];
    const isLeft = [...nodes.queue.expiry.keys()].some((member) => member.startsWith("~x:"));
    return (isLeft || nodes.living > 0) && !registry.has(`~^${nodes.name}`) ? [nodes.name] : [];
  });
}
