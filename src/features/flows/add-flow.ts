/** Adds a flow: its record and the tasks of its home in one request, those of other partitions behind it. */
import { invalidArgument, SluiceError } from "../../errors.ts";
import { commandCall, exchange, runAll } from "../../kernel/call.ts";
import { checkAndEncode, newTasks } from "../../kernel/enqueue/new-tasks.ts";
import { edgesText, layoutFields } from "../../kernel/linked/flow-layout.ts";
import { layoutField, nodeId, predecessorsField, ROOT, rootOf } from "../../kernel/linked/flow-names.ts";
import { addFlowScript } from "../../kernel/linked/link-scripts.ts";
import { addLaterCall, type AddedLater, noteNodes, removeEntries } from "../../kernel/linked/outbox.ts";
import { all } from "../../kernel/maybe-promise.ts";
import { derivedName } from "../../kernel/names/derived-ids.ts";
import { newTaskId } from "../../kernel/names/ids.ts";
import type { RequestOptions, TaskDefaults } from "../../kernel/options/types.ts";
import { requestKey } from "../../kernel/options/validation.ts";
import type { ReplyTo, Shard } from "../../kernel/shard.ts";
import type { Adds, Item } from "../../kernel/store.ts";
import type { Values } from "../../kernel/values/values.ts";
import { edgeLetters, edgesBefore, followerLists, predecessorsOf } from "./edge-texts.ts";
import { type Content, tokenOfFlow } from "./flow-token.ts";
import type { FlowItem, FlowTask } from "./graph/flow-items.ts";
import { planFlow } from "./graph/plan-flow.ts";

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
  queueOf: (queue: Q, path: string) => FlowQueue,
  { id, idempotencyKey, onFailure, signal }: FlowOptions,
): Promise<AddedFlow> {
  if (id !== undefined && (typeof id !== "string" || !NAME.test(id))) {
    throw invalidArgument("id", "must be 1 to 64 of A-Z a-z 0-9 _ . -, beginning with a letter or a digit");
  }
  if (onFailure !== undefined && onFailure !== "cancel")
    throw invalidArgument("onFailure", 'must be "cancel", if it is given');
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
  const homeShard = shards.get(homeQueue.name) as Shard;

  // A node without a task is in the home.
  const places = queues.map((queue) => (queue ? (shards.get(queue.store.queue.name) as Shard) : homeShard));
  const names = [...new Set([homeShard.name, ...places.map((shard) => shard.name)])];
  const followers = followerLists(
    edges,
    places.map((shard) => shard.name),
    homeShard.name,
  );
  const { letters: waitsFor, isOver } = edgeLetters(nodes, edges);

  const contents: Content[] = [];
  const fronts = await recordsOf(flow, nodes, queues, contents);
  // Where the flow is to be cancelled if a task fails.
  const cancels = onFailure === "cancel" ? `;C=${homeShard.name}` : "";
  const token = await tokenOfFlow(homeQueue.name, key, { nodes, edges }, contents);
  const records = nodes.map(({ kind }, node) => {
    const { delay = "", record = "\n" } = fronts[node] ?? {};
    const ofNode = kind === "task" ? "" : `;J=${kind === "join" ? "j" : "g"}`;
    return {
      id: nodeId(flow, node),
      edges: waitsFor[node] as string,
      record: `;t=${token};F=${flow};B=${followers[node]}${ofNode}${cancels}${delay}${record}`,
    };
  });
  const kindsOf = (wanted: string) => [...nodes.keys()].filter((node) => nodes[node]?.kind === wanted);
  const layout = layoutFields(flow, ROOT, {
    shards: names,
    runs: runsOf(places.map((shard) => names.indexOf(shard.name))),
    refs: nodes.map(({ ref }) => ref),
    joins: kindsOf("join"),
    gates: kindsOf("gate"),
    edges: nodes.map((_, node) => edgesText(edgesBefore(edges, node))),
  });
  const before = predecessorsOf(
    nodes,
    edges,
    places.map((shard) => shard.name),
  );
  const ofShard = (shard: string) =>
    records.flatMap((record, node) => {
      if (places[node]?.name !== shard || isOver[node]) return [];
      const text = before[node];
      if (text === undefined) return [record];
      return [record, { id: predecessorsField(record.id), edges: "~", record: text }];
    });
  const later = names.slice(1).map((shard) => {
    const added: AddedLater = { token, items: ofShard(shard).map((one) => [one.id, one.edges, one.record]) };
    return { shard, added, member: `~x:${rootOf(flow)} ${shard}` };
  });
  const root = {
    id: rootOf(flow),
    edges: isOver.map((over) => (over ? "+" : "e")).join(""),
    record: `;t=${token};F=${flow};J=j${cancels}\n`,
  };
  const home = [
    root,
    { id: layoutField(flow), edges: "~", record: layout.map(({ name }) => name).join(",") },
    ...layout.map(({ field, text }) => ({ id: field, edges: "~", record: text })),
    ...ofShard(homeShard.name),
    ...later.map(({ member, added }) => ({ id: member, edges: "~", record: JSON.stringify(added) })),
  ];
  const { transport } = homeQueue;
  const args = { wake: first.store.wakeWindow(), token };
  const call = homeShard.call(addFlowScript, args, home, homeShard.note());
  // Sweeps then complete what this call may leave.
  const notes = Array.from(shards.values(), (shard) => commandCall(noteNodes(shard), () => undefined));
  const [added] = (await exchange(transport, [...notes, call] as const, { signal })).slice(-1);
  const { status, wake, isOwn } = (added as () => ReplyTo<typeof addFlowScript>)();
  if (status === "full") throw new SluiceError("queue_full", `the queue ${homeQueue.name} is full`);
  if (!isOwn && key !== undefined && id === undefined) throw keyReused();
  if (isOwn && later.length > 0) {
    const shardOf = (shard: string) => places.find((one) => one.name === shard) as Shard;
    await runAll(
      transport,
      later.map(({ shard, added }) => addLaterCall(shardOf(shard), token, added.items)),
      { signal },
    );
    const done = removeEntries(
      homeShard,
      later.map(({ member }) => ({ kind: "field", member })),
    );
    await transport.send(done, { signal });
  }
  await first.store.ready({ now: wake });
  const tasks = nodes.flatMap(({ kind, ref }, node) => (kind === "task" ? [[ref, nodeId(flow, node)]] : []));
  return { id: flow, created: isOwn, tasks: Object.fromEntries(tasks) as Record<string, string> };
}

const keyReused = () =>
  new SluiceError(
    "idempotency_key_reused",
    "an earlier flow with this idempotencyKey had other tasks; use a new key",
    "idempotencyKey",
  );

/** The partition of each queue that has the nodes of a flow. */
async function shardsOf(
  queues: readonly (FlowQueue | undefined)[],
  placedBy: string,
  options: RequestOptions,
): Promise<Map<string, Shard>> {
  const shards = new Map<string, Shard>();
  for (const queue of queues) {
    const name = queue?.store.queue.name;
    if (queue && name !== undefined && !shards.has(name))
      shards.set(name, await queue.store.ownerOf(placedBy, options));
  }
  return shards;
}

/**
 * The records of tasks, by the numbers of their nodes, without the letters of the flow.
 * @param contents gets what the flow has of each queue
 */
async function recordsOf<Q>(
  flow: string,
  nodes: readonly { readonly task: FlowTask<Q> | undefined; readonly path: string }[],
  queues: readonly (FlowQueue | undefined)[],
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
    const ids = numbers.map((node) => nodeId(flow, node));
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
