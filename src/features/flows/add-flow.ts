/** Adds a flow: its record and the tasks of its home in one request, those of other partitions behind it. */
import { invalidArgument, SluiceError } from "../../errors.ts";
import { commandCall, runAll } from "../../kernel/call.ts";
import { layoutFields } from "../../kernel/linked/flow-layout.ts";
import { layoutField, MAX_FLOW_ID, nodeId, ROOT, rootOf } from "../../kernel/linked/flow-names.ts";
import type { AddHeaders } from "../../kernel/hooks.ts";
import { addFlowScript } from "../../kernel/linked/link-scripts.ts";
import type { NodeItem } from "../../kernel/linked/node-pieces.ts";
import { derivedName } from "../../kernel/names/derived-ids.ts";
import { newTaskId } from "../../kernel/names/ids.ts";
import type { RequestOptions } from "../../kernel/options/types.ts";
import { requestKey } from "../../kernel/options/validation.ts";
import type { Shard } from "../../kernel/shard.ts";
import type { Adds } from "../../kernel/store.ts";
import { checkGroups } from "./check-groups.ts";
import { cancelsText, writeNodes } from "./flow-nodes.ts";
import {
  addedNodes,
  checkTasks,
  type FlowQueue,
  overAll,
  queuesOf,
  type QueueOf,
  shardsOf,
  targetsOf,
  hookedAdd,
  wakeAll,
} from "./flow-tasks.ts";
import { type Content, tokenOfFlow } from "./flow-token.ts";
import type { FlowItem } from "./graph/flow-items.ts";
import type { FlowPlan } from "./graph/flow-plan.ts";
import { planFlow } from "./graph/plan-flow.ts";
import { sendNodes } from "./send-nodes.ts";

export interface FlowOptions extends RequestOptions {
  /**
   * The name of the flow: another call with it adds nothing. `<name>@<queue of the first task>` has at most 110 characters.
   * @default a new one
   */
  readonly id?: string | undefined;
  /**
   * `"cancel"`: once a task has failed, all that has not ended is cancelled, after what waits for its completion has been
   * rejected. Tasks that wait for the end of others in any way, to clean up, still run, and those that wait only for such tasks.
   * A task that a user cancels has not failed.
   * @default tasks that do not depend on it go on
   */
  readonly onFailure?: "cancel" | undefined;
}

export interface AddedFlow<Ref extends string = string> {
  /** `<name>@<home>`. */
  readonly id: string;
  /** False if a flow with this id was known already. */
  readonly created: boolean;
  /** The id of each task, by its ref. */
  readonly tasks: Readonly<Record<Ref, string>>;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/**
 * Adds a flow.
 * @param queueOf what is needed of the queue of a task
 * @throws {SluiceError} `invalid_argument`, `too_large`, `queue_full`, or a fault of the transport
 */
export async function addFlow<Q>(
  items: readonly FlowItem<Q>[],
  queueOf: QueueOf<Q>,
  options: FlowOptions,
): Promise<AddedFlow> {
  return addPlan(planFlow(items), queueOf, options);
}

/** Adds a flow that is planned, as {@link addFlow} does. */
export async function addPlan<Q>(
  plan: FlowPlan<Q>,
  queueOf: QueueOf<Q>,
  options: FlowOptions,
): Promise<AddedFlow> {
  const queues = queuesOf(plan.nodes, queueOf);
  const stores = queues.flatMap((queue) => queue?.store ?? []);
  return hookedAdd(plan.nodes, queues, (addHeaders) =>
    overAll(stores, () => addOnce(plan, queues, options, addHeaders), { signal: options.signal }),
  );
}

async function addOnce<Q>(
  { nodes, edges, batch }: FlowPlan<Q>,
  queues: readonly (FlowQueue | undefined)[],
  { id, idempotencyKey, onFailure, signal }: FlowOptions,
  addHeaders: AddHeaders | undefined,
): Promise<AddedFlow> {
  if (id !== undefined && (typeof id !== "string" || !NAME.test(id))) {
    throw invalidArgument("id", "must be 1 to 64 of A-Z a-z 0-9 _ . -, beginning with a letter or a digit");
  }
  if (onFailure !== undefined && onFailure !== "cancel")
    throw invalidArgument("onFailure", 'must be "cancel", if it is given');
  const key = requestKey({ idempotencyKey });
  const first = queues.find((queue) => queue !== undefined);
  if (!first) throw invalidArgument("tasks", "must have at least one task");
  const recordsOf = await checkTasks(nodes, queues, addHeaders);
  const homeQueue = first.store.queue;
  const derived = key === undefined ? newTaskId() : await derivedName("flow", homeQueue.name, key);
  const flow = `${id ?? derived}@${homeQueue.name}`;
  if (flow.length > MAX_FLOW_ID) {
    const path = id === undefined ? `${nodes.find(({ task }) => task)?.path}.queue` : "id";
    throw invalidArgument(
      path,
      `makes the id of the flow too long; ${flow} may have ${MAX_FLOW_ID} characters`,
    );
  }
  const shards = await shardsOf(queues, flow, { signal });
  if (id !== undefined || key !== undefined)
    shards.set(first, await homeNow(first.store, shards.get(first) as Shard, flow, { signal }));
  const shardOf = (queue: FlowQueue) => shards.get(queue) as Shard;
  const homeShard = shardOf(first);

  // A node without a task is in the home.
  const places = queues.map((queue) => (queue ? shardOf(queue) : homeShard).name);
  const contents: Content[] = [];
  const number = (node: number) => String(node);
  const records = await recordsOf((node) => nodeId(flow, number(node)), contents);
  await checkGroups(nodes, queues, shards, homeShard, { signal });
  const token = await tokenOfFlow(homeQueue.name, key, { nodes, edges }, contents);
  const home = homeShard.name;
  const cancelsAt = onFailure === "cancel" ? home : undefined;
  const from = { flow, token, root: ROOT, number, rootPlace: home, home, cancelsAt };
  const { rootEdges, pieces } = writeNodes({ ...from, nodes, edges, batch, places, records });
  const layout = layoutFields(flow, ROOT, addedNodes({ nodes, edges, batch }, places, home));
  const front: NodeItem[] = [
    {
      id: rootOf(flow),
      edges: rootEdges,
      record: `;t=${token};F=${flow};J=j;H=${home}${cancelsText(cancelsAt)}\n`,
    },
    { id: layoutField(flow), edges: "~", record: layout.map(({ name }) => name).join(",") },
    ...layout.map(({ field, text }) => ({ id: field, edges: "~", record: text })),
  ];
  const targets = targetsOf(shards);
  const args = { wake: first.store.wakeWindow(), token, mayRefuse: "1" };
  const record = (own: readonly NodeItem[]) => homeShard.call(addFlowScript, args, own, homeShard.note());
  const sent = await sendNodes({ from: homeShard, targets, token, front, pieces, record }, signal);
  if (sent.status === "full") throw new SluiceError("queue_full", `the queue ${homeQueue.name} is full`);
  if (sent.status === "lost")
    throw new SluiceError("aborted", "adding the flow took over an hour; add it again");
  if (sent.by === "others" && key !== undefined && id === undefined) throw keyReused();
  await wakeAll(shards, sent.wakes);
  const tasks = nodes.flatMap(({ kind, ref }, node) =>
    kind === "task" ? [[ref, nodeId(flow, number(node))]] : [],
  );
  return {
    id: flow,
    created: sent.by !== "others",
    tasks: Object.fromEntries(tasks) as Record<string, string>,
  };
}

/** The home of a flow: where it is, if it was added before the queue had its present partitions. */
async function homeNow(store: Adds, owner: Shard, flow: string, options: RequestOptions): Promise<Shard> {
  const root = rootOf(flow);
  const others = (await store.having(root, options)).filter(({ name }) => name !== owner.name);
  if (others.length === 0) return owner;
  const calls = others.map((shard) =>
    commandCall(["HEXISTS", shard.keys.tasks, root], (reply) => (reply === 1 ? shard : undefined)),
  );
  const found = await runAll(store.queue.transport, calls, options);
  return found.find((shard) => shard !== undefined) ?? owner;
}

const keyReused = () =>
  new SluiceError(
    "idempotency_key_reused",
    "an earlier flow with this idempotencyKey had other tasks; use a new key",
    "idempotencyKey",
  );
