import { invalidArgument, SluiceError } from "../errors.ts";
import type { CallHandler } from "./handler-pool.ts";
import { checkedOptions, type DrainDefaults } from "./drain-options.ts";
import { DrainLoop } from "./drain-loop.ts";
import { isConnected, type TaskSource } from "./source.ts";
import type { BatchHandler, DrainOptions, DrainReport, Handler, Task, TaskOutcome } from "./types.ts";

/**
 * Works on a queue until it is empty or the budget is over. It calls the handler once for each task.
 *
 * - Finished tasks are settled by the request that dequeues the next ones. If no dequeue is due, they are
 *   settled at once, or within about a second together with others that are about to finish.
 * - If handlers are quick, the drain dequeues before they run out of tasks. Over TCP, two dequeues may be under way.
 * - Leases are extended, all in one request, before they expire and at least every fifteen seconds. The reply
 *   also reports cancelled tasks.
 * - The drain begins no task that is unlikely to end in time, and hands back the tasks that it did not begin.
 * - With `requests`, the drain begins no task for which too few requests are left.
 * - When the budget ends, the handlers' signals abort. The tasks of handlers that do not stop are requeued.
 *
 * @param source a queue, or a queue of the HTTP client
 * @param handler works on one task; its result completes the task, an error requeues it
 * @param options.budget how long the drain may last in all. Default: "25s"
 * @returns what became of the tasks, and when to drain again
 * @throws {SluiceError} `invalid_argument`, at once. Or the error of a request that failed: the drain then
 *   begins no more tasks, waits for running handlers, and tries once more to settle. Tasks that it could not
 *   settle are delivered again when their leases expire
 * @example
 * await drain(emails, async ({ payload, signal }) => send(payload, { signal }), { budget: "25s" });
 */
export async function drain<T, Own = unknown>(
  source: TaskSource<T, Own>,
  handler: Handler<T, Own>,
  options: DrainOptions = {},
): Promise<DrainReport> {
  const callHandler: CallHandler<T> = async ([task]) => {
    return [{ outcome: "complete", result: await handler(task as Task<T> & Own) }];
  };
  return run(source, handler, callHandler, options, {
    concurrency: 5,
    batch: undefined,
    wholeBatches: false,
  });
}

/**
 * {@link drain} with one call of the handler for all tasks of a dequeue. `concurrency` and `timeout` apply to
 * such calls.
 * @param handler works on a batch; returns an outcome for each task, in their order
 * @returns what became of the tasks, and when to drain again
 * @throws {SluiceError} as {@link drain}
 * @example
 * await drainBatches(emails, async (tasks) => {
 *   await sendAll(tasks.map(({ payload }) => payload));
 *   return tasks.map(() => ({ outcome: "complete" }));
 * });
 */
export async function drainBatches<T, Own = unknown>(
  source: TaskSource<T, Own>,
  handler: BatchHandler<T, Own>,
  options: DrainOptions = {},
): Promise<DrainReport> {
  const callHandler: CallHandler<T> = async (tasks, { signal }) => {
    const outcomes: unknown = await handler(tasks as (Task<T> & Own)[], signal);
    if (Array.isArray(outcomes) && outcomes.length === tasks.length) return outcomes as TaskOutcome[];
    throw new SluiceError(
      "invalid_argument",
      `a batch handler must return an array of ${tasks.length} outcomes, one for each task`,
    );
  };
  return run(source, handler, callHandler, options, { concurrency: 1, batch: 10, wholeBatches: true });
}

/** How long an aborted drain waits for its source, ms. */
const AFTER_ABORT = 1_000;

async function run<T>(
  source: TaskSource<T>,
  handler: unknown,
  callHandler: CallHandler<T>,
  options: DrainOptions,
  defaults: DrainDefaults,
): Promise<DrainReport> {
  const operations = ["dequeue", "settle", "settleAndDequeue"] as const;
  if (operations.some((name) => typeof source?.[name] !== "function")) {
    throw invalidArgument("source", "must be a Queue, or have dequeue, settle and settleAndDequeue");
  }
  if (typeof handler !== "function") throw invalidArgument("handler", "must be a function");
  const checked = checkedOptions(options, defaults);
  const end = performance.now() + checked.budget;
  const { backoff, requests, requestsPerTask, onFailure } = checked;
  if (backoff !== true) (await import("../kernel/options/backoff.ts")).checkBackoff(backoff);
  const failures = onFailure && new (await import("./task-failures.ts")).TaskFailures(source.name, onFailure);
  const limited =
    requests === undefined
      ? undefined
      : (await import("./limited-source.ts")).limited(source, requests, requestsPerTask);
  try {
    return await new DrainLoop(source, callHandler, {
      ...checked,
      end,
      failures,
      limited,
      connected: isConnected(source),
    }).run();
  } finally {
    const left = Math.max(0, end - performance.now());
    await source.ended?.(options.signal?.aborted ? Math.min(left, AFTER_ABORT) : left);
  }
}
