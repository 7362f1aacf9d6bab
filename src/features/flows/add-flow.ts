/** Adds a flow: its record and the tasks of its home in one request, those of other partitions behind it. */
import { invalidArgument, SluiceError } from "../../errors.ts";
import { checkAndEncode, newTasks } from "../../kernel/enqueue/new-tasks.ts";
import { type AddedNodes, edgesText, layoutFields } from "../../kernel/linked/flow-layout.ts";
import { layoutField, nodeId, ROOT, rootOf } from "../../kernel/linked/flow-names.ts";
import { addFlowScript } from "../../kernel/linked/link-scripts.ts";
import type { NodeItem } from "../../kernel/linked/node-pieces.ts";
import { all } from "../../kernel/maybe-promise.ts";
import { derivedName } from "../../kernel/names/derived-ids.ts";
import { newTaskId } from "../../kernel/names/ids.ts";
import type { RequestOptions, TaskDefaults } from "../../kernel/options/types.ts";
import { requestKey } from "../../kernel/options/validation.ts";
import type { Shard } from "../../kernel/shard.ts";
import type { Adds, Item } from "../../kernel/store.ts";
import type { Values } from "../../kernel/values/values.ts";
import { edgesBefore } from "./edge-texts.ts";
import { writeNodes } from "./flow-nodes.ts";
import { type Content, tokenOfFlow } from "./flow-token.ts";
import type { FlowItem, FlowTask } from "./graph/flow-items.ts";
import type { FlowPlan } from "./graph/flow-plan.ts";
import { planFlow } from "./graph/plan-flow.ts";
import { sendNodes } from "./send-nodes.ts";

/** What a flow needs of a queue. */
export interface FlowQueue {
  readonly store: Adds;
  readonly values: Values;
  readonly defaults: TaskDefaults;
  readonly schema: Parameters<typeof checkAndEncode>[0];
}

export interface FlowOptions extends RequestOptions {
  /** The name of the flow: another call with it adds nothing. @default a new one */
  readonly id?: string | undefined;
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
  queueOf: (queue: Q, path: string) => FlowQueue,
  { id, idempotencyKey, signal }: FlowOptions,
): Promise<AddedFlow> {
  if (id !== undefined && (typeof id !== "string" || !NAME.test(id))) {
    throw invalidArgument("id", "must be 1 to 64 of A-Z a-z 0-9 _ . -, beginning with a letter or a digit");
  }
  const key = requestKey({ idempotencyKey });
  const { nodes, edges } = planFlow(items);
  const known = new Map<Q, FlowQueue>();
  const queues = nodes.map(({ task, path }) => {
    if (!task) return undefined;
    const queue = known.get(task.queue) ?? queueOf(task.queue, `${path}.queue`);
    known.set(task.queue, queue);
    return queue;
  });
  const first = queues.find((queue) => queue !== undefined);
  if (!first) throw invalidArgument("tasks", "must have at least one task");
  const homeQueue = first.store.queue;
  const derived = key === undefined ? newTaskId() : await derivedName("flow", homeQueue.name, key);
  const flow = `${id ?? derived}@${homeQueue.name}`;
  const shards = await shardsOf(queues, flow, { signal });
  const shardOf = (queue: FlowQueue) => shards.get(queue) as Shard;
  const homeShard = shardOf(first);

  // A node without a task is in the home.
  const places = queues.map((queue) => (queue ? shardOf(queue) : homeShard).name);
  const contents: Content[] = [];
  const number = (node: number) => String(node);
  const records = await recordsOf(nodes, queues, (node) => nodeId(flow, number(node)), contents);
  const token = await tokenOfFlow(homeQueue.name, key, { nodes, edges }, contents);
  const home = homeShard.name;
  const from = { flow, token, root: ROOT, number, rootPlace: home, home };
  const { rootEdges, pieces } = writeNodes({ ...from, nodes, edges, places, records });
  const layout = layoutFields(flow, ROOT, addedNodes({ nodes, edges }, places, home));
  const front: NodeItem[] = [
    { id: rootOf(flow), edges: rootEdges, record: `;t=${token};F=${flow};J=j\n` },
    { id: layoutField(flow), edges: "~", record: layout.map(({ name }) => name).join(",") },
    ...layout.map(({ field, text }) => ({ id: field, edges: "~", record: text })),
  ];
  const targets = new Map(
    Array.from(shards, ([queue, shard]) => [shard.name, { shard, wake: queue.store.wakeWindow() }]),
  );
  const args = { wake: first.store.wakeWindow(), token, mayRefuse: "1" };
  const record = (own: readonly NodeItem[]) => homeShard.call(addFlowScript, args, own, homeShard.note());
  const sent = await sendNodes({ from: homeShard, targets, token, front, pieces, record }, signal);
  if (sent.status === "full") throw new SluiceError("queue_full", `the queue ${homeQueue.name} is full`);
  if (sent.status === "lost")
    throw new SluiceError("aborted", "adding the flow took over an hour; add it again");
  if (sent.by === "others" && key !== undefined && id === undefined) throw keyReused();
  await Promise.all(
    Array.from(shards, ([queue, shard]) => queue.store.ready({ now: sent.wakes.has(shard.name) })),
  );
  const tasks = nodes.flatMap(({ kind, ref }, node) =>
    kind === "task" ? [[ref, nodeId(flow, number(node))]] : [],
  );
  return {
    id: flow,
    created: sent.by !== "others",
    tasks: Object.fromEntries(tasks) as Record<string, string>,
  };
}

const keyReused = () =>
  new SluiceError(
    "idempotency_key_reused",
    "an earlier flow with this idempotencyKey had other tasks; use a new key",
    "idempotencyKey",
  );

/** The partition of each queue that gets the nodes of a flow. */
async function shardsOf(
  queues: readonly (FlowQueue | undefined)[],
  placedBy: string,
  options: RequestOptions,
): Promise<Map<FlowQueue, Shard>> {
  const named = new Map<string, Shard>();
  const shards = new Map<FlowQueue, Shard>();
  for (const queue of new Set(queues)) {
    if (!queue) continue;
    const { name } = queue.store.queue;
    const shard = named.get(name) ?? (await queue.store.ownerOf(placedBy, options));
    named.set(name, shard);
    shards.set(queue, shard);
  }
  return shards;
}

/**
 * The records of tasks, by the numbers of their nodes, without the letters of the flow.
 * @param contents gets what the flow has of each queue
 */
async function recordsOf<Q>(
  nodes: readonly { readonly task: FlowTask<Q> | undefined; readonly path: string }[],
  queues: readonly (FlowQueue | undefined)[],
  idOf: (node: number) => string,
  contents: Content[],
): Promise<readonly ({ delay: string; record: string } | undefined)[]> {
  const records: ({ delay: string; record: string } | undefined)[] = nodes.map(() => undefined);
  for (const queue of new Set(queues)) {
    if (!queue) continue;
    const numbers = [...nodes.keys()].filter((node) => queues[node] === queue);
    const tasks = numbers.map((node) => optionsOf(nodes[node]?.task as FlowTask<Q>));
    const at = (i: number) => `${nodes[numbers[i] as number]?.path}.`;
    const texts = await all(tasks, (task, i) =>
      checkAndEncode(queue.schema, task, at(i), queue.values.maxPayload),
    );
    const parts = { name: queue.store.queue.name, values: queue.values, defaults: queue.defaults };
    const { encode } = newTasks(parts, tasks, texts, { key: undefined, at });
    const ids = numbers.map(idOf);
    const items = await encode([...tasks.keys()], ids);
    const sealed = items.map((item) => ("failed" in item ? "" : item.payload));
    contents.push({ queue: parts.name, tasks, sealed, at });
    for (const [i, item] of items.entries()) {
      if ("failed" in item) throw item.failed;
      records[numbers[i] as number] = recordOf(item, `${at(i)}at`);
    }
  }
  return records;
}

/** The options of a task that its queue takes. */
function optionsOf<Q>({ ref: _, after: __, queue: ___, ...options }: FlowTask<Q>) {
  return options;
}

/** @throws {SluiceError} `invalid_argument` */
function recordOf({ when, front, payload }: Item, path: string) {
  if (when !== "" && !when.startsWith("+"))
    throw invalidArgument(path, "is not possible in a flow; use delay");
  return { delay: when === "" ? "" : `;D=${when.slice(1)}`, record: front + payload };
}

/** The nodes as the layout of their flow has them. */
function addedNodes<Q>({ nodes, edges }: FlowPlan<Q>, places: readonly string[], home: string): AddedNodes {
  const shards = [...new Set([home, ...places])];
  const kindsOf = (wanted: string) => [...nodes.keys()].filter((node) => nodes[node]?.kind === wanted);
  return {
    shards,
    runs: runsOf(places.map((place) => shards.indexOf(place))),
    refs: nodes.map(({ ref }) => ref),
    joins: kindsOf("join"),
    gates: kindsOf("gate"),
    edges: nodes.map((_, node) => edgesText(edgesBefore(edges, node))),
  };
}

/** How many nodes follow each other in the same place. */
function runsOf(places: readonly number[]): [number, number][] {
  const runs: [number, number][] = [];
  for (const place of places) {
    const last = runs.at(-1);
    if (last?.[0] === place) last[1]++;
    else runs.push([place, 1]);
  }
  return runs;
}
