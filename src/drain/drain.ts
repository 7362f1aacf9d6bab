import { checkedAt, invalidArgument, SluiceError } from "../errors.ts";
import { checkBackoff } from "../kernel/options/backoff.ts";
import { milliseconds } from "../kernel/options/duration.ts";
import { waitMilliseconds } from "../kernel/lease/long-poll.ts";
import {
  abortSignal,
  onlyOptions,
  optionalFunction,
  trueOrFalse,
  wholeNumber,
} from "../kernel/options/validation.ts";
import { MAX_BATCH } from "../kernel/options/limits.ts";
import type { Worker } from "../kernel/options/types.ts";
import { workerArguments } from "../kernel/lease/worker-info.ts";
import type { CallHandler } from "./handler-pool.ts";
import type { PaceOptions } from "./pace.ts";
import { DrainLoop, type DrainLoopOptions } from "./drain-loop.ts";
import { checkedBudget } from "./request-share.ts";
import type { TaskSource } from "./source.ts";
import type { BatchHandler, DrainOptions, DrainReport, Handler, Task, TaskOutcome } from "./types.ts";

/**
 * Works on a queue until it is empty or the budget is over. It calls the handler once for each task.
 *
 * - Finished tasks are settled by the request that dequeues the next ones. If no dequeue is due, they are
 *   settled at once, or within about a second together with others that are about to finish.
 * - If handlers are quick, the drain dequeues before they run out of tasks.
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
export async function drain<T>(
  source: TaskSource<T>,
  handler: Handler<T>,
  options: DrainOptions = {},
): Promise<DrainReport> {
  const callHandler: CallHandler<T> = async ([task]) => {
    return [{ outcome: "complete", result: await handler(task as Task<T>) }];
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
export async function drainBatches<T>(
  source: TaskSource<T>,
  handler: BatchHandler<T>,
  options: DrainOptions = {},
): Promise<DrainReport> {
  const callHandler: CallHandler<T> = async (tasks, { signal }) => {
    const outcomes: unknown = await handler(tasks, signal);
    if (Array.isArray(outcomes) && outcomes.length === tasks.length) return outcomes as TaskOutcome[];
    throw new SluiceError(
      "invalid_argument",
      `a batch handler must return an array of ${tasks.length} outcomes, one for each task`,
    );
  };
  return run(source, handler, callHandler, options, { concurrency: 1, batch: 10, wholeBatches: true });
}

/** The options that a service sets for each consumer. How long a drain lasts is not among them. */
export const WORK_OPTIONS = [
  "batch",
  "concurrency",
  "lease",
  "extendEvery",
  "timeout",
  "backoff",
  "storeStack",
  "wait",
  "worker",
  "requestsPerTask",
] as const satisfies readonly (keyof DrainOptions)[];

/** How long an aborted drain waits for its source, ms. */
const AFTER_ABORT = 1_000;

const OPTIONS: readonly (keyof DrainOptions)[] = [
  "budget",
  ...WORK_OPTIONS,
  "requests",
  "signal",
  "closing",
  "listen",
  "onFailure",
];

async function run<T>(
  source: TaskSource<T>,
  handler: unknown,
  callHandler: CallHandler<T>,
  options: DrainOptions,
  defaults: PaceOptions,
): Promise<DrainReport> {
  const operations = ["dequeue", "settle", "settleAndDequeue"] as const;
  if (operations.some((name) => typeof source?.[name] !== "function")) {
    throw invalidArgument(
      "source",
      "must be a Queue, or another object with dequeue, settle and settleAndDequeue",
    );
  }
  if (typeof handler !== "function") throw invalidArgument("handler", "must be a function");
  const { wholeBatches } = defaults;
  const { requests, requestsPerTask, onFailure, ...checked } = checkedOptions(options, defaults);
  const end = performance.now() + checked.budget;
  // A drain without these options loads nothing, and begins at once.
  const extras = {
    limited:
      requests === undefined
        ? undefined
        : (await import("./limited-source.ts")).limited(source, requests, requestsPerTask),
    failures: onFailure && new (await import("./task-failures.ts")).TaskFailures(source.name, onFailure),
  };
  try {
    return await new DrainLoop(source, callHandler, { ...checked, wholeBatches }, end, extras).run();
  } finally {
    const left = Math.max(0, end - performance.now());
    await source.ended?.(options.signal?.aborted ? Math.min(left, AFTER_ABORT) : left);
  }
}

/**
 * Checks a drain's options before it begins.
 * @param at prefix of the option names in errors, such as `consumers.emails.`
 * @throws {SluiceError} `invalid_argument`
 */
export function checkDrainOptions(options: DrainOptions, at: string): void {
  checkedAt(at, () => {
    const { requests, requestsPerTask } = checkedOptions(options, { concurrency: 1, batch: undefined });
    if (requests !== undefined) checkedBudget(requests, requestsPerTask);
  });
}

function checkedOptions(
  options: DrainOptions,
  defaults: Omit<PaceOptions, "wholeBatches">,
): Omit<DrainLoopOptions, "wholeBatches"> &
  Pick<DrainOptions, "requests" | "onFailure"> & { readonly requestsPerTask: number } {
  onlyOptions(options, OPTIONS);
  const { budget: duration = "25s", batch = defaults.batch, concurrency = defaults.concurrency } = options;
  const { lease, timeout } = options;
  const { backoff = true, wait, worker, signal, closing, listen, onFailure } = options;
  const budget = milliseconds(duration, "budget", { min: 1 });
  checkBackoff(backoff);
  if (worker !== undefined) checkWorker(worker, budget);
  abortSignal(closing, "closing");
  const requestsPerTask = wholeNumber(options.requestsPerTask ?? 1, "requestsPerTask", 0, 1_000);
  optionalFunction(listen, "listen");
  optionalFunction(onFailure, "onFailure");
  return {
    budget,
    requests: options.requests,
    requestsPerTask,
    batch: batch === undefined ? undefined : wholeNumber(batch, "batch", 1, MAX_BATCH),
    concurrency: wholeNumber(concurrency, "concurrency", 1, 1_000),
    lease: lease === undefined ? undefined : milliseconds(lease, "lease", { min: 1 }),
    extendEvery: milliseconds(options.extendEvery ?? "15s", "extendEvery", { min: 250, max: 3_600_000 }),
    timeout: timeout === undefined ? Number.POSITIVE_INFINITY : milliseconds(timeout, "timeout", { min: 1 }),
    backoff,
    storeStack: trueOrFalse(options.storeStack ?? false, "storeStack"),
    wait: waitMilliseconds(wait),
    worker,
    signal,
    closing,
    listen,
    onFailure,
  };
}

function checkWorker(worker: Worker, budget: number): void {
  workerArguments(worker);
  const { silentAfter = budget } = worker;
  if (milliseconds(silentAfter, "worker.silentAfter") < budget) {
    throw invalidArgument(
      "worker.silentAfter",
      `must be at least the budget, ${budget} ms: a drain reports its worker as alive only when it dequeues`,
    );
  }
}
