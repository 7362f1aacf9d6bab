import { invalidArgument } from "../../errors.ts";
import type { AddHeaders, AddHooks } from "../../kernel/hooks.ts";
import type { Enqueued, EnqueueOptions, NewTask, RequestOptions } from "../../kernel/options/types.ts";
import type { Queue } from "../../kernel/queue.ts";
import type { Log } from "../../log/logger.ts";

/** The calls of a producer. */
export interface ProducerCalls {
  readonly name: string;
  enqueue(
    payload: never,
    options?: EnqueueOptions & RequestOptions,
    addHeaders?: AddHeaders,
  ): Promise<Enqueued>;
  enqueueMany(
    tasks: readonly NewTask<never>[],
    options?: RequestOptions,
    addHeaders?: AddHeaders,
  ): Promise<Enqueued[]>;
}

/** Those of a queue. */
export type QueueCalls = ProducerCalls & Pick<Queue, "dequeue" | "settle" | "settleAndDequeue">;

/**
 * Traces what queues and consumers do. `openTelemetry()` of `sluice-queue/opentelemetry` makes one. Its methods
 * are called by Sluice. They never throw, except what `run` throws.
 */
export interface Tracing extends AddHooks {
  /**
   * Puts calls that are traced in place of those of a producer or a queue, and traces the drains of the queue.
   * @param overHttp whether an enqueue is a request to a server, which then creates the tasks
   */
  traceCalls(queue: ProducerCalls | QueueCalls, overHttp: boolean): void;

  /** This tracing for a request with these headers: what it enqueues belongs to the trace that they name. */
  continuing(headers: { get(name: string): string | null }): Tracing;

  /** Its line goes there, instead of to the console. */
  logTo(log: Log): void;

  /** Runs work that belongs to no trace, even if one is active. */
  detached<R>(run: () => R): R;
}

/**
 * Returns the tracing that an option sets.
 * @throws {SluiceError} `invalid_argument`
 */
export function checkedTracing(tracing: Tracing | undefined): Tracing | undefined {
  if (tracing === undefined || typeof tracing?.traceCalls === "function") return tracing;
  throw invalidArgument("tracing", "must be made by openTelemetry() of sluice-queue/opentelemetry");
}
