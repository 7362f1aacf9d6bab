import type { AddTraceHeaders, Exchanged, Tracing } from "../kernel/tracing.ts";
import type { Enqueued, EnqueueOptions, Settlement } from "../kernel/options/types.ts";

/** A queue whose operations are traced if it has a `tracing`. */
interface TracedQueue {
  readonly name: string;
  readonly tracing: Tracing | undefined;
}

/** Enqueues. */
export function traceEnqueue<R extends Enqueued | readonly Enqueued[]>(
  { name, tracing }: TracedQueue,
  call: { readonly tasks: readonly EnqueueOptions[]; readonly many: boolean },
  run: (addTraceHeaders?: AddTraceHeaders) => Promise<R>,
): Promise<R> {
  return tracing ? tracing.enqueue({ queue: name, ...call, overHttp: true }, run) : run();
}

/** Settles, dequeues, or does both. */
export function traceExchange<R extends Exchanged>(
  { name, tracing }: TracedQueue,
  settlements: readonly Settlement[],
  run: () => Promise<R>,
): Promise<R> {
  return tracing ? tracing.exchange(name, settlements, run) : run();
}
