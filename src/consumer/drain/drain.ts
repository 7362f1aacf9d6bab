import { invalidArgument, SluiceError } from "../../errors.ts";
import { checkBackoff } from "../../queue/core/backoff.ts";
import { milliseconds } from "../../queue/core/duration.ts";
import { waitMilliseconds } from "../../queue/tasks/long-poll.ts";
import { abortSignal, onlyOptions, wholeNumber } from "../../queue/core/validation.ts";
import { MAX_DEQUEUE } from "../../queue/tasks/dequeue.ts";
import type { Worker } from "../../queue/core/types.ts";
import { workerArguments } from "../../queue/tasks/worker-info.ts";
import type { Work } from "./handler-pool.ts";
import type { PaceOptions } from "./pace.ts";
import { DrainLoop, type DrainLoopOptions } from "./drain-loop.ts";
import type { TaskSource } from "./source.ts";
import type { BatchHandler, DrainOptions, DrainReport, Handler, Task, TaskOutcome } from "./types.ts";

/**
 * Works on a queue until nothing is left or the time is over, one call of the handler a task. Finished tasks are settled
 * by the request that pulls the next ones. If no pull is due, they are settled at once, or, while others are about to
 * finish, together within about a second. If handlers are quick, it pulls before they run out of tasks. Leases are
 * extended, in one request for all, before they expire and at least every fifteen seconds; the answer also reports
 * cancels. It begins no task that would not end in time, judging by those it has seen, and hands back what it did not
 * begin. When the budget ends, the handlers' signals abort; tasks of handlers that do not stop are requeued.
 * @throws {SluiceError} `invalid_argument`, at once; or the fault of a request: then it has begun no more tasks, let
 *   those end that ran, and tried once more to settle. What it could not settle is delivered again when its lease expires
 * @example
 * await drain(emails, async ({ payload, signal }) => send(payload, { signal }), { budget: "25s" });
 */
export async function drain<T>(
  source: TaskSource<T>,
  handler: Handler<T>,
  options: DrainOptions = {},
): Promise<DrainReport> {
  const work: Work<T> = async ([task]) => [{ outcome: "complete", result: await handler(task as Task<T>) }];
  return run(source, handler, work, options, { concurrency: 5, batch: undefined, together: false });
}

/**
 * {@link drain}, with one call of the handler for all tasks of a pull; `concurrency` and `timeout` are of such calls.
 * @throws {SluiceError} as {@link drain}
 */
export async function drainBatches<T>(
  source: TaskSource<T>,
  handler: BatchHandler<T>,
  options: DrainOptions = {},
): Promise<DrainReport> {
  const work: Work<T> = async (tasks, { signal }) => {
    const outcomes: unknown = await handler(tasks, signal);
    if (Array.isArray(outcomes) && outcomes.length === tasks.length) return outcomes as TaskOutcome[];
    throw new SluiceError(
      "invalid_argument",
      `a batch handler must return an array of ${tasks.length} outcomes, one for each task`,
    );
  };
  return run(source, handler, work, options, { concurrency: 1, batch: 10, together: true });
}

/** What a drain is told of its work; beside this, how long it lasts. */
export const WORK_OPTIONS = [
  "batch",
  "concurrency",
  "lease",
  "extendEvery",
  "timeout",
  "backoff",
  "wait",
  "worker",
] as const satisfies readonly (keyof DrainOptions)[];

const OPTIONS: readonly (keyof DrainOptions)[] = ["budget", ...WORK_OPTIONS, "signal", "closing", "listen"];

function run<T>(
  source: TaskSource<T>,
  handler: unknown,
  work: Work<T>,
  options: DrainOptions,
  implied: PaceOptions,
): Promise<DrainReport> {
  const operations = ["dequeue", "settle", "settleAndDequeue"] as const;
  if (operations.some((name) => typeof source?.[name] !== "function")) {
    throw invalidArgument("source", "must be a Queue, or another source of tasks");
  }
  if (typeof handler !== "function") throw invalidArgument("handler", "must be a function");
  return new DrainLoop<T>(source, work, {
    ...checkedOptions(options, implied),
    together: implied.together,
  }).report();
}

/**
 * Checks a drain's options before there is anything to drain.
 * @param at what stands in front of their names in errors, such as `consumers.emails.`
 * @throws {SluiceError} `invalid_argument`
 */
export function checkDrainOptions(options: DrainOptions, at: string): void {
  try {
    checkedOptions(options, { concurrency: 1, batch: undefined });
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    throw new SluiceError(error.code, at + error.message, at + error.path);
  }
}

function checkedOptions(
  options: DrainOptions,
  implied: Omit<PaceOptions, "together">,
): Omit<DrainLoopOptions, "together"> {
  onlyOptions(options, OPTIONS);
  const { budget: span = "25s", batch = implied.batch, concurrency = implied.concurrency } = options;
  const { lease, timeout } = options;
  const { backoff = true, wait, worker, signal, closing, listen } = options;
  const budget = milliseconds(span, "budget", { min: 1 });
  checkBackoff(backoff);
  if (worker !== undefined) checkWorker(worker, budget);
  abortSignal(closing, "closing");
  if (listen !== undefined && typeof listen !== "function")
    throw invalidArgument("listen", "must be a function");
  return {
    budget,
    batch: batch === undefined ? undefined : wholeNumber(batch, "batch", 1, MAX_DEQUEUE),
    concurrency: wholeNumber(concurrency, "concurrency", 1, 1_000),
    lease: lease === undefined ? undefined : milliseconds(lease, "lease", { min: 1 }),
    extendEvery: milliseconds(options.extendEvery ?? "15s", "extendEvery", { min: 250, max: 3_600_000 }),
    timeout: timeout === undefined ? Number.POSITIVE_INFINITY : milliseconds(timeout, "timeout", { min: 1 }),
    backoff,
    wait: waitMilliseconds(wait),
    worker,
    signal,
    closing,
    listen,
  };
}

function checkWorker(worker: Worker, budget: number): void {
  workerArguments(worker);
  const { silentAfter = budget } = worker;
  if (milliseconds(silentAfter, "worker.silentAfter") < budget) {
    throw invalidArgument(
      "worker.silentAfter",
      `must be the budget at least, ${budget} ms: a drain gives a sign of life only when it pulls`,
    );
  }
}
