import type { Queue } from "../kernel/queue.ts";
import type { Batch } from "../kernel/lease/leased-task.ts";
import type { DequeueOptions, Settled, Settlement } from "../kernel/options/types.ts";
import type { Transport } from "../kernel/transport.ts";
import type { ExtendTask } from "./in-flight-task.ts";
import { type SeveralDatabases, withOnSend } from "./request-budget.ts";

/** Where a consumer gets its tasks and settles them: a {@link Queue}, or a queue of the HTTP client. */
export type TaskSource<T = unknown> = Pick<
  Queue<never, T>,
  "name" | "dequeue" | "settle" | "settleAndDequeue"
> &
  Partial<Pick<Queue, "tracing">> & {
    /**
     * Returns the same source, which calls `onSend` before each copy of a request that it sends, and does not send
     * it if that throws.
     * @default each call counts as one request; a {@link Queue} needs no such method
     */
    readonly counted?: ((onSend: () => void) => TaskSource<T>) | undefined;
    /** Over how many databases one call may be spread. @default 1, or as the transport of a {@link Queue} has */
    readonly databases?: number | undefined;
    /**
     * Called when a drain has ended, with the time that it may still take, ms. The drain waits for it.
     * @default nothing to wait for
     */
    readonly ended?: ((timeLeft: number) => Promise<unknown>) | undefined;
  };

/** A source that calls `onDequeue` with the tasks of each dequeue before it returns them. */
export function observed<T>(
  source: TaskSource<T>,
  onDequeue: (tasks: Batch<T>, options: DequeueOptions) => void,
): TaskSource<T> {
  return {
    name: source.name,
    tracing: source.tracing,
    databases: databasesOf(source),
    counted: (onSend) => observed(counted(source, onSend), onDequeue),
    settle: (...args) => source.settle(...args),
    async dequeue(options = {}) {
      const tasks = await source.dequeue(options);
      onDequeue(tasks, options);
      return tasks;
    },
    async settleAndDequeue(settlements, options = {}) {
      const reply = await source.settleAndDequeue(settlements, options);
      onDequeue(reply.tasks, options);
      return reply;
    },
  };
}

/** What a {@link Queue} keeps of what it was made of. */
interface MadeQueue {
  readonly transport: Transport & Partial<SeveralDatabases>;
  readonly options: object;
}

/** The same source, which calls `onSend` before each copy of a request: see {@link TaskSource.counted}. */
export function counted<T>(source: TaskSource<T>, onSend: () => void): TaskSource<T> {
  if (source.counted) return source.counted(onSend);
  if (isQueue(source)) {
    // The class is not imported, because a drain of the HTTP client needs no part of it.
    const SameClass = source.constructor as new (name: string, options: object) => TaskSource<T>;
    const { name, options, transport } = source;
    return new SameClass(name, { ...options, transport: withOnSend(transport, onSend) });
  }
  return {
    name: source.name,
    tracing: source.tracing,
    async settle(...args) {
      onSend();
      return source.settle(...args);
    },
    async dequeue(...args) {
      onSend();
      return source.dequeue(...args);
    },
    async settleAndDequeue(...args) {
      onSend();
      return source.settleAndDequeue(...args);
    },
  };
}

/** Sends the extends of a task through a source, which does not count them. */
export function extendsOver<T>(source: TaskSource<T>): (task: Pick<Settlement, "receipt">) => ExtendTask {
  return ({ receipt }) =>
    async (lease, options) => {
      const [extended] = await source.settle([{ receipt, outcome: "extend", lease, ...options }]);
      return extended as Settled;
    };
}

/** Over how many databases one call may be spread. */
export function databasesOf<T>(source: TaskSource<T>): number {
  if (source.databases !== undefined) return source.databases;
  return (isQueue(source) && source.transport.databases) || 1;
}

function isQueue<T>(source: TaskSource<T>): source is TaskSource<T> & MadeQueue {
  return "transport" in source && "options" in source;
}
