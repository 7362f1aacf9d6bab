import type { AddTraceHeaders, TracedTask, Tracing } from "../queue/core/tracing.ts";
import type { Enqueued, EnqueueOptions, Settled, Settlement } from "../queue/core/types.ts";

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

/** Dequeues. */
export async function traceDequeue<Tasks extends readonly TracedTask[]>(
  { name, tracing }: TracedQueue,
  run: () => Promise<Tasks>,
): Promise<Tasks> {
  if (!tracing) return run();
  return (await tracing.exchange(name, [], async () => ({ tasks: await run() }))).tasks;
}

/** Settles. */
export async function traceSettle(
  { name, tracing }: TracedQueue,
  settlements: readonly Settlement[],
  run: () => Promise<Settled[]>,
): Promise<Settled[]> {
  if (!tracing) return run();
  return (await tracing.exchange(name, settlements, async () => ({ settled: await run() }))).settled;
}
