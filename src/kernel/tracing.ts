import { invalidArgument } from "../errors.ts";
import type { Enqueued, EnqueueOptions, Settled, Settlement } from "./options/types.ts";

/** The headers of a task, or of a request. */
type Headers = Readonly<Record<string, string>>;

/**
 * Adds the headers that continue a trace, such as `traceparent`, to others. If one of them is set already, or
 * if all together are too large for a task, it returns the others unchanged.
 */
export type AddTraceHeaders = <H extends Headers | undefined>(headers: H) => H | Headers;

/** A task in a trace. Its headers may have the context in which it was enqueued. */
export interface TracedTask {
  readonly id: string;
  readonly headers: Headers | undefined;
}

/** An enqueue of one task, or of several. */
export interface TracedEnqueue {
  readonly queue: string;
  readonly tasks: readonly EnqueueOptions[];
  /** True for `enqueueMany`, even of one task. */
  readonly many: boolean;
  /** True if it is a request to a server, which then creates the tasks. */
  readonly overHttp: boolean;
}

/** What a settle, a dequeue, or both in one request, returned. */
export interface Exchanged {
  readonly settled?: readonly Settled[];
  readonly tasks?: readonly TracedTask[];
}

/**
 * Traces what queues and consumers do. `openTelemetry()` of `sluice-queue/opentelemetry` makes one. Its methods
 * are called by Sluice. They never throw, except what `run` throws.
 */
export interface Tracing {
  /**
   * Traces an enqueue.
   * @param run does it, and adds the trace headers to each task, or over HTTP to the request
   */
  enqueue<R extends Enqueued | readonly Enqueued[]>(
    call: TracedEnqueue,
    run: (addTraceHeaders: AddTraceHeaders) => Promise<R>,
  ): Promise<R>;

  /**
   * Traces a request that settles tasks, dequeues tasks, or does both.
   * @param settlements none if it only dequeues
   */
  exchange<R extends Exchanged>(
    queue: string,
    settlements: readonly Settlement[],
    run: () => Promise<R>,
  ): Promise<R>;

  /** Notes the headers of the task that a settlement is of, so that its trace can refer to that of the task. */
  noteTask(settlement: Settlement, headers: Headers | undefined): void;

  /**
   * The traces of a drain. They belong to the trace that is active now.
   * @param wholeBatches whether its handler takes all tasks of a dequeue
   */
  drain(queue: string, wholeBatches: boolean): DrainTracing;

  /** This tracing for a request with these headers: what it enqueues belongs to the trace that they name. */
  continuing(headers: { get(name: string): string | null }): Tracing;

  /** Runs work that belongs to no trace, even if one is active. */
  detached<R>(run: () => R): R;
}

/** The traces of one drain. */
export interface DrainTracing extends Pick<Tracing, "noteTask"> {
  /** Makes a request of the drain. */
  request<R>(run: () => R): R;

  /** Begins the trace of one call of the handler, for these tasks. */
  handlerCall(tasks: readonly (TracedTask & { readonly attempt: number })[]): HandlerCallTracing;
}

/** The outcome of a task's handler. `lost`: it was dropped, because the task's lease was lost. */
export interface TracedOutcome {
  readonly outcome: "complete" | "reject" | "requeue" | "lost";
  readonly error?: unknown;
}

/** The trace of one call of a handler. */
export interface HandlerCallTracing {
  /** Calls the handler. What it does belongs to the trace. */
  run<R>(handler: () => R): R;
  /** Ends the trace. Called once. */
  end(outcomes: readonly TracedOutcome[]): void;
}

/**
 * Returns the tracing that an option sets.
 * @throws {SluiceError} `invalid_argument`
 */
export function checkedTracing(tracing: Tracing | undefined): Tracing | undefined {
  if (tracing === undefined || typeof tracing?.exchange === "function") return tracing;
  throw invalidArgument("tracing", "must be made by openTelemetry() of sluice-queue/opentelemetry");
}
