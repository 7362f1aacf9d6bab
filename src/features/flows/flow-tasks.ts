/** What a flow needs to know of its tasks: their queues, partitions and records. */
import { invalidArgument } from "../../errors.ts";
import { checkAndEncode, newTasks } from "../../kernel/enqueue/new-tasks.ts";
import { type AddedNodes, edgesText } from "../../kernel/linked/flow-layout.ts";
import { TASK_OPTIONS } from "../../kernel/enqueue/task-options.ts";
import type { AddHeaders, AddHooks, CheckTask } from "../../kernel/hooks.ts";
import { all } from "../../kernel/maybe-promise.ts";
import type { RequestOptions, TaskDefaults } from "../../kernel/options/types.ts";
import { ownName } from "../../kernel/linked/unnamed.ts";
import { DEFAULT_PREFIX } from "../../kernel/names/keys.ts";
import type { QueueRef } from "../../kernel/queue-ref.ts";
import { onlyOptions } from "../../kernel/options/validation.ts";
import type { Shard } from "../../kernel/shard.ts";
import type { AddBatch, Adds, Item } from "../../kernel/store.ts";
import type { Values } from "../../kernel/values/values.ts";
import { edgesBefore } from "./edge-texts.ts";
import type { Content } from "./flow-token.ts";
import type { FlowTask } from "./graph/flow-items.ts";
import type { FlowNode, FlowPlan } from "./graph/flow-plan.ts";
import type { Target } from "./send-nodes.ts";
import { aroundAdd } from "./around-add.ts";

/** What a flow needs of a queue. */
export interface FlowQueue {
  readonly store: Adds;
  readonly values: Values;
  readonly defaults: TaskDefaults;
  readonly schema: Parameters<typeof checkAndEncode>[0];
  readonly addHooks?: AddHooks | undefined;
  readonly checkTask?: CheckTask | undefined;
}

/** Options of a task in a flow. Its id derives from that of the flow. `at` has an error of its own. */
const FLOW_TASK_OPTIONS = ["ref", "queue", "payload", "after", ...TASK_OPTIONS].filter(
  (option) => !["id", "unique", "dedup", "again"].includes(option),
);

/** What is needed of the queue of a task. @param path of the queue, for errors */
export type QueueOf<Q> = (queue: Q, path: string) => FlowQueue;

/**
 * The queue of each node that is a task. All must be reached by the same database, or by the same `databases`.
 * @param beside a queue that the flow has. @default that of the first task
 * @throws {SluiceError} `invalid_argument`
 */
export function queuesOf<Q>(
  nodes: readonly FlowNode<Q>[],
  queueOf: QueueOf<Q>,
  beside?: QueueRef,
): readonly (FlowQueue | undefined)[] {
  const known = new Map<Q, FlowQueue>();
  let first = beside;
  return nodes.map(({ task, path }) => {
    if (!task) return undefined;
    const queue = known.get(task.queue) ?? queueOf(task.queue, `${path}.queue`);
    known.set(task.queue, queue);
    const own = queue.store.queue;
    first ??= own;
    if (!isBeside(own, first)) {
      throw invalidArgument(
        `${path}.queue`,
        `must be in the database of ${first.name}, with its prefix; for several databases give both queues one transport, made by databases()`,
      );
    }
    return queue;
  });
}

/** The partitions that get nodes, by their names in the registry. */
export const targetsOf = (shards: ReadonlyMap<FlowQueue, Shard>): ReadonlyMap<string, Target> =>
  new Map(Array.from(shards, ([queue, shard]) => [shard.name, { shard, wake: queue.store.wakeWindow() }]));

/** Wakes consumers of the partitions that have got ready tasks. */
export async function wakeAll(shards: ReadonlyMap<FlowQueue, Shard>, wakes: ReadonlySet<string>) {
  await Promise.all(
    Array.from(shards, ([queue, shard]) => queue.store.ready({ now: wakes.has(shard.name) })),
  );
}

/** The partition of each queue that gets the nodes of a flow. */
export async function shardsOf(
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

/** Adds the tasks of nodes, as {@link aroundAdd} does. */
export function hookedAdd<Q, R extends object>(
  nodes: readonly FlowNode<Q>[],
  queues: readonly (FlowQueue | undefined)[],
  add: (addHeaders?: AddHeaders) => Promise<R>,
): Promise<R> {
  const first = queues.find((queue) => queue !== undefined);
  const tasks = nodes.flatMap(({ task }) => task ?? []);
  const call = { queue: first?.store.queue.name ?? "", tasks, overHttp: false };
  return aroundAdd(first?.addHooks, call, add);
}

/** Runs calls on the shards of queues. Runs them again if one of these has turned out to have others. */
export function overAll<T>(
  stores: readonly Adds[],
  calls: () => Promise<T>,
  options: RequestOptions,
): Promise<T> {
  return [...new Set(stores)].reduce((inner, store) => () => store.over(inner, options), calls)();
}

/** Tasks of one queue, checked. */
interface TasksOfQueue extends Pick<AddBatch, "encode">, Pick<Content, "tasks" | "at"> {
  readonly name: string;
  /** The numbers of their nodes. */
  readonly numbers: readonly number[];
}

/** The records of tasks, by the numbers of their nodes, without the letters of the flow. */
type Records = readonly ({ delay: string; record: string } | undefined)[];

/**
 * Checks the tasks, before anything is asked of Redis.
 * @param addHeaders to those of each task
 * @returns what makes their records once their ids are known. `contents` gets what the flow has of each queue
 * @throws {SluiceError} `invalid_argument`, `too_large`
 */
export async function checkTasks<Q>(
  nodes: readonly { readonly task: FlowTask<Q> | undefined; readonly path: string }[],
  queues: readonly (FlowQueue | undefined)[],
  addHeaders: AddHeaders | undefined,
): Promise<(idOf: (node: number) => string, contents: Content[]) => Promise<Records>> {
  const checked: TasksOfQueue[] = [];
  for (const queue of new Set(queues)) {
    if (!queue) continue;
    const numbers = [...nodes.keys()].filter((node) => queues[node] === queue);
    const tasks = numbers.map((node) => optionsOf(nodes[node]?.task as FlowTask<Q>));
    const at = (i: number) => `${nodes[numbers[i] as number]?.path}.`;
    for (const [i, task] of tasks.entries()) {
      onlyOptions(task, FLOW_TASK_OPTIONS, at(i));
      queue.checkTask?.(task, at(i));
    }
    // They stay in Redis, also with an object store, so no larger ones are taken.
    const texts = await all(tasks, (task, i) => checkAndEncode(queue.schema, task, at(i)));
    const { name } = queue.store.queue;
    const parts = { name, values: queue.values, defaults: queue.defaults };
    const { encode } = newTasks(parts, tasks, texts, { key: undefined, at, addHeaders });
    checked.push({ name, numbers, tasks, at, encode });
  }
  return async (idOf, contents) => {
    const records: ({ delay: string; record: string } | undefined)[] = nodes.map(() => undefined);
    for (const { name, numbers, tasks, at, encode } of checked) {
      const items = await encode([...tasks.keys()], numbers.map(idOf));
      const sealed = items.map((item) => ("failed" in item ? "" : item.payload));
      contents.push({ queue: name, tasks, sealed, at });
      for (const [i, item] of items.entries()) {
        if ("failed" in item) throw item.failed;
        records[numbers[i] as number] = recordOf(item, `${at(i)}at`);
      }
    }
    return records;
  };
}

/** Whether two queues are in the same database, as far as their transports say, with the same prefix. */
function isBeside(one: QueueRef, other: QueueRef): boolean {
  const [database, otherDatabase] = [ownName(one.transport), ownName(other.transport)];
  const isSame = database === undefined || otherDatabase === undefined || database === otherDatabase;
  return isSame && (one.prefix ?? DEFAULT_PREFIX) === (other.prefix ?? DEFAULT_PREFIX);
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
export function addedNodes<Q>(
  { nodes, edges, batch }: FlowPlan<Q>,
  places: readonly string[],
  home: string,
): AddedNodes {
  const shards = [...new Set([home, ...places])];
  const kindsOf = (wanted: string) => [...nodes.keys()].filter((node) => nodes[node]?.kind === wanted);
  return {
    shards,
    runs: runsOf(places.map((place) => shards.indexOf(place))),
    refs: nodes.map(({ ref }) => ref),
    joins: kindsOf("join"),
    gates: kindsOf("gate"),
    batch,
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
