import { invalidArgument } from "../errors.ts";
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
import type { CallOptions } from "./handler-pool.ts";
import type { PaceOptions } from "./pace.ts";
import type { LimitedSource } from "./limited-source.ts";
import type { TaskFailures } from "./task-failures.ts";
import type { DrainOptions } from "./types.ts";

/** A drain's options, checked; durations in ms. */
export interface CheckedOptions
  extends
    CallOptions,
    Omit<PaceOptions, "connected">,
    Pick<DrainOptions, "requests" | "listen" | "onFailure"> {
  readonly budget: number;
  readonly requestsPerTask: number;
  readonly lease: number | undefined;
  readonly extendEvery: number;
  readonly wait: number;
  readonly worker: Worker | undefined;
  readonly signal: AbortSignal | undefined;
  readonly closing: AbortSignal | undefined;
}

/** What differs between drains by task and by batch. */
export type DrainDefaults = Omit<PaceOptions, "connected">;

/** Those of one drain, with what was loaded for it. */
export interface DrainLoopOptions<T> extends CheckedOptions, PaceOptions {
  /** When the drain must be over, on the clock of `performance.now()`. */
  readonly end: number;
  /** Reports failed tasks; undefined if the caller wants no reports. */
  readonly failures: TaskFailures | undefined;
  /** The source, if the number of requests is limited. */
  readonly limited: LimitedSource<T> | undefined;
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

const OPTIONS: readonly (keyof DrainOptions)[] = [
  "budget",
  ...WORK_OPTIONS,
  "requests",
  "signal",
  "closing",
  "listen",
  "onFailure",
];

/**
 * The options of a drain. The backoff is not checked yet.
 * @throws {SluiceError} `invalid_argument`
 */
export function checkedOptions(options: DrainOptions, defaults: DrainDefaults): CheckedOptions {
  onlyOptions(options, OPTIONS);
  const { budget: duration = "25s", batch = defaults.batch, concurrency = defaults.concurrency } = options;
  const { lease, timeout } = options;
  const { backoff = true, wait, worker, signal, closing, listen, onFailure } = options;
  const budget = milliseconds(duration, "budget", { min: 1 });
  if (worker !== undefined) checkWorker(worker, budget);
  abortSignal(closing, "closing");
  const requestsPerTask = wholeNumber(options.requestsPerTask ?? 1, "requestsPerTask", 0, 1_000);
  optionalFunction(listen, "listen");
  optionalFunction(onFailure, "onFailure");
  return {
    budget,
    requests: options.requests,
    requestsPerTask,
    wholeBatches: defaults.wholeBatches,
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
    throw invalidArgument("worker.silentAfter", `must be at least the budget, ${budget} ms`);
  }
}
