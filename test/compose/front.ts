import { setTimeout as sleep } from "node:timers/promises";
import type { QueueDeclaration } from "../../src/deploy/declared/declaration.ts";
import { onTestFinished } from "vitest";
import {
  type DefinedQueue,
  defineQueue,
  type Duration,
  type Enqueued,
  type FoundTask,
  type HealthFinding,
  type Logger,
  type NewTask,
  NonRetryableError,
  type PublishedEvent,
  RetryAfter,
  Queue,
  type QueueCounts,
  type Task,
  type TaskInfo,
} from "../../src/index.ts";
import { resp } from "../../src/transports/resp.ts";
import { type KeyOptions, type QueueOfClient, withDebounce } from "../../src/features/debounce/index.ts";
import type {
  AddedFlow,
  BatchCallbacks,
  BatchTask,
  Before,
  FlowItem,
  FlowOptions,
  FlowReport,
  QueueOfFlow,
} from "../../src/features/flows/index.ts";
import type { Tracing } from "../../src/features/tracing/types.ts";
import type { FlowCalls } from "../../src/open/flows/flow-calls.ts";
import type { TopicFilter } from "../../src/features/topics/index.ts";
import type { Published } from "../../src/open/topics/publish.ts";
import type { Preview, PublishOptions } from "../../src/open/topics/topic.ts";
import {
  defineEndpoints,
  type EndpointsPart,
  type EventOfEndpoints,
  type NewEndpoint,
  type Sent,
} from "../../src/http/endpoints/index.ts";
import { QUEUE, type Rig } from "../support/rig.ts";

/** The queue beside `emails`. */
export const BESIDE = "rows";

/** Tasks of a flow, each with the name of its queue. */
export type NamedItems = readonly FlowItem<string>[];

/** What a handler asks of the flow of its task. */
export interface InFlow {
  before(): Promise<Readonly<Record<string, Before>>>;
  addBefore(ref: string, items: NamedItems): Promise<unknown>;
}

/** A task as every front gives it to a handler. In a row without flows it has none of their calls. */
export type Delivered = Pick<Task, "id" | "payload" | "headers"> & InFlow;

/** A task as programs without the library pull it. */
export interface Pulled extends Delivered {
  readonly receipt: string;
}

/** What a user of a front sets. */
export interface Given {
  /** The queue `emails`. */
  readonly declaration: QueueDeclaration;
  /** A second queue, with the same handler, for flows. @default neither */
  readonly beside?: QueueDeclaration;
  /** Returns the result of the task. */
  readonly handler: (task: Delivered) => unknown;
  /** Whether `emails` has the deliveries to endpoints. */
  readonly endpoints?: boolean;
  /** How many handlers run at once. */
  readonly concurrency: number;
  readonly prefix?: string | undefined;
  readonly tracing?: Tracing | undefined;
  readonly logger?: Logger | undefined;
  /** Whether a deployment has the dashboard. */
  readonly dashboard?: boolean;
}

/** The declared queues, by their names. */
export function declaredOf({ declaration, beside }: Given): ReadonlyMap<string, DefinedQueue> {
  const all = [defineQueue(QUEUE, declaration), ...(beside ? [defineQueue(BESIDE, beside)] : [])];
  return new Map(all.map((one) => [one.name, one]));
}

/** What is done with several tasks at once. */
export type BulkAction = "redrive" | "cancel" | "delete";

/** A finding, as every front shows it. */
export type Found = Pick<HealthFinding, "status" | "code" | "about" | "found" | "advice">;

/** How a user reaches a queue. */
export interface Front {
  add(tasks: readonly AddedTask[]): Promise<readonly Enqueued[]>;
  /** Runs cron and consumers once. A server may go on afterwards. */
  run(): Promise<unknown>;
  get(id: string): Promise<TaskInfo | null>;
  /** @param queue @default `emails` */
  counts(queue?: string): Promise<QueueCounts>;
  /** The ids of the blocked tasks of a queue. */
  blocked(queue: string): Promise<readonly string[]>;
  /** Pauses the queue for a time, or one of its groups. */
  pause(time: Duration, group?: string): Promise<unknown>;
  readonly flows: FlowsFront;
  readonly topics: TopicsFront;
  readonly endpoints: EndpointsFront;
  /** What is wrong with the queues and their database. */
  findings(): Promise<readonly Found[]>;
  /** Which tasks have a text, and where. */
  find(text: string): Promise<readonly Pick<FoundTask, "id" | "queue" | "found">[]>;
  /** Redrives, cancels or deletes tasks in one call: an operator's, or that of the dashboard. */
  bulk(action: BulkAction, ids: readonly string[]): Promise<unknown>;
  /** The events of the queue, from then on. */
  events(): Promise<AsyncIterable<PublishedEvent>>;
  /** The keys in the database, and all that they hold as text. */
  stored(): Promise<{ readonly keys: readonly string[]; readonly text: string }>;
  stop(): Promise<unknown>;
}

/** How a front reaches flows. */
export interface FlowsFront {
  add(items: NamedItems, options?: FlowOptions): Promise<AddedFlow>;
  batch(tasks: readonly BatchTask<string>[], callbacks: BatchCallbacks<string>): Promise<AddedFlow>;
  get(id: string): Promise<FlowReport | null>;
  cancel(id: string): Promise<unknown>;
  redrive(id: string): Promise<unknown>;
}

/** How a front reaches topics. */
export interface TopicsFront {
  publish(
    topic: string,
    payload: unknown,
    options: PublishOptions,
  ): Promise<Pick<Published, "id" | "copies">>;
  preview(topic: string, headers: Readonly<Record<string, string>>): Promise<Preview>;
  subscribe(queue: string, topic: string, options?: { readonly filter: TopicFilter }): Promise<unknown>;
}

/** How a front reaches endpoints. */
export interface EndpointsFront {
  add(endpoint: NewEndpoint): Promise<unknown>;
  send(event: EventOfEndpoints): Promise<Sent>;
}

/** The part of endpoints, if there are some. */
export const endpointsOf = ({ endpoints }: Given): readonly EndpointsPart[] =>
  endpoints ? [defineEndpoints({ queue: QUEUE })] : [];

/** Subscribes the queues of a program that no deployment declares. */
export async function subscribeDeclared(given: Given, { subscribe }: TopicsFront): Promise<void> {
  for (const { name, subscribes } of declaredOf(given).values())
    if (typeof subscribes === "string") await subscribe(name, subscribes);
}

/** Items with queues in place of their names. */
export const withQueues = <Q>(items: NamedItems, queueOf: (name: string) => Q): FlowItem<Q>[] =>
  items.map((item) =>
    "flow" in item
      ? { ...item, flow: withQueues(item.flow, queueOf) }
      : { ...item, queue: queueOf(item.queue) },
  );

/** A batch with queues in place of their names. */
export function batchOf<Q>(
  tasks: readonly BatchTask<string>[],
  callbacks: BatchCallbacks<string>,
  queueOf: (name: string) => Q,
): [BatchTask<Q>[], BatchCallbacks<Q>] {
  const withQueue = <One extends { readonly queue: string }>(one: One) => ({
    ...one,
    queue: queueOf(one.queue),
  });
  const named = Object.entries(callbacks) as [keyof typeof callbacks, Omit<BatchTask<string>, "ref">][];
  return [tasks.map(withQueue), Object.fromEntries(named.map(([name, one]) => [name, withQueue(one)]))];
}

/** A task as handlers of the library get it, whose flow takes the names of queues. */
export const withItsFlow = (task: Task & FlowCalls, queueOf: (name: string) => QueueOfFlow): Delivered => ({
  ...task,
  before: () => task.before(),
  addBefore: (ref, items) => task.addBefore(ref, withQueues(items, queueOf)),
});

/** A task of a row without flows. */
export const withNoFlow = (task: Task): Delivered => ({ ...task, before: noFlow, addBefore: noFlow });

const noFlow = async (): Promise<never> => {
  throw new Error("this row has no flows");
};

export type StartFront = (rig: Rig, given: Given) => Promise<Front>;

/** Waits until something is so, and does something each time before it looks. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  each?: () => Promise<unknown>,
): Promise<void> {
  for (let pause = 5; ; pause = Math.min(2 * pause, 200)) {
    await each?.();
    if (await isSo()) return;
    await sleep(pause);
  }
}

/** Runs cron and consumers until the handler has done enough, and its tasks have ended. */
export async function work(front: Front, isDone: () => boolean): Promise<void> {
  await until(isDone, () => front.run());
  await until(async () => (await front.counts()).working === 0);
}

/** A task that is added alone may have options with a key. */
export type AddedTask = NewTask<unknown> & KeyOptions;

/** Adds one task by the call for one, several by the call for several. */
export async function addTo(
  queue: Pick<Queue, "enqueue" | "enqueueMany"> & object,
  tasks: readonly AddedTask[],
): Promise<readonly Enqueued[]> {
  const [first, ...others] = tasks;
  if (!first || others.length > 0) return queue.enqueueMany(tasks);
  const { payload, ...options } = first;
  const { debounce, throttle, singleton, replace } = options;
  if (!(debounce ?? throttle ?? singleton ?? replace)) return [await queue.enqueue(payload, options)];
  return [await withDebounce<unknown, QueueOfClient<unknown>>(queue).enqueue(payload, options)];
}

/** Handles pulled tasks at once. @returns their settlements, as JSON takes them */
export const handled = (tasks: readonly Pulled[], handler: Given["handler"]) =>
  Promise.all(
    tasks.map(async (task) => {
      const { receipt } = task;
      try {
        return { receipt, outcome: "complete", result: await handler(task) };
      } catch (error) {
        if (error instanceof NonRetryableError) return { receipt, outcome: "reject", error: error.message };
        if (error instanceof RetryAfter)
          return { receipt, outcome: "requeue", delay: error.delay, queue: error.queue };
        throw error;
      }
    }),
  );

/** The route of an action below that of the queue. */
export const routeOf = (action: BulkAction) => (action === "redrive" ? "/redrive" : `/tasks/${action}`);

/** A front that has no calls of endpoints. */
const noEndpoint = async (): Promise<never> => {
  throw new Error("this front has no endpoints");
};
export const noEndpoints: EndpointsFront = { add: noEndpoint, send: noEndpoint };

/** A front that has no call for it. */
export const noBulk = async (): Promise<never> => {
  throw new Error("this front acts on no tasks by their ids");
};

/** The events in a Redis, over a connection of the test's own. */
export async function eventsIn(rig: Rig): Promise<AsyncIterable<PublishedEvent>> {
  const transport = resp(rig.redis.url);
  onTestFinished(() => transport.close());
  return new Queue(QUEUE, { transport }).events();
}

/** What a Redis holds. */
export async function storedIn(rig: Rig) {
  const space = await rig.keySpace();
  return { keys: Object.keys(space), text: JSON.stringify(space) };
}

/** Runs a drain after a wake, and never two at once. */
export function oneAtATime(run: () => Promise<unknown>) {
  let running: Promise<unknown> | undefined;
  return {
    start: (): Promise<unknown> => (running ??= run().finally(() => (running = undefined))),
    ended: async (): Promise<void> => void (await running),
  };
}
