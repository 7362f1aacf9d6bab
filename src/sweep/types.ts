import type { SweepCounts } from "../kernel/tasks/counts.ts";
import type { OnDeadLetter } from "../kernel/record/dead-letter.ts";
import type { Duration } from "../kernel/options/duration.ts";
import type { Waker } from "../features/waking/index.ts";

export interface SweepOptions {
  /** When to stop, and report `more`. A sweep takes at least one step. @default "20s" */
  readonly budget?: Duration | undefined;
  /** First part of every key. @default that of the transport, or "sluice" */
  readonly prefix?: string | undefined;
  /** Sweeps only this queue, without listing the others. @default every registered queue */
  readonly queue?: string | undefined;
  /** Whether to sweep a registered queue. @default all of them */
  readonly queues?: ((name: string) => boolean) | undefined;
  /**
   * About how many tasks of each kind one request moves in a queue, 1 to 10,000. Each thousand has a script call of its
   * own. A call ends early if its tasks take Redis long. @default 1,000
   */
  readonly limit?: number | undefined;
  /**
   * Wakes a consumer of each queue that has ready tasks and no active consumer. If it has `wakeAt` or
   * `sweepAt`, the sweep calls them for what will be due next.
   * @default wakes none
   */
  readonly wake?: Waker | undefined;
  /**
   * Called once with each task that the sweep makes a dead letter: its last lease expired, or its worker is
   * silent. The sweep does not wait for it. If it fails, one line is written to the console. If Redis's reply
   * is lost, it is not called.
   * @default none
   */
  readonly onDeadLetter?: OnDeadLetter | undefined;
  /** Aborts the requests; `sweep` then throws `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** For tests only: the clock (epoch ms) instead of Redis's. */
  readonly now?: (() => number) | undefined;
}

export const SWEEP_OPTIONS = [
  "budget",
  "prefix",
  "queue",
  "queues",
  "limit",
  "wake",
  "onDeadLetter",
  "signal",
  "now",
] as const satisfies readonly (keyof SweepOptions)[];

export interface SweepReport extends SweepCounts {
  /** How many queues were swept or checked. */
  readonly queues: number;
  /** How many occurrences of schedules were enqueued. */
  readonly scheduled: number;
  /** How many queues had a consumer woken. */
  readonly woken: number;
  /** Queues that could not be swept completely, each with the code of the error. */
  readonly failed: readonly { readonly queue: string; readonly code: string }[];
}
