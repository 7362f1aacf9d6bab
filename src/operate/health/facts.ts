import type { ErrorSummary } from "../../kernel/errors/error-summary.ts";
import type { QueueCounts } from "../../kernel/tasks/counts.ts";
import type { QueueSettings, Rate } from "../settings.ts";
import type { Skipped } from "../../features/schedules/index.ts";
import type { LostWorker } from "./lost-workers.ts";

/** What was measured of a queue. Instants are epoch ms, by Redis's clock. */
export interface QueueFacts extends QueueCounts {
  readonly now: number;
  /** The number of the last lease. It rises with each delivery. */
  readonly leases: number;
  readonly settings: QueueSettings;
  readonly work: {
    /** When the task that has been working longest was dequeued; null if none was found. */
    readonly since: number | null;
    /** The worker that has it; undefined if it gave no name. */
    readonly worker?: string | undefined;
    /** The longest lease of these tasks, ms. */
    readonly lease: number;
  };
  /** Of the tasks that are working, and the next and last ones that wait, at most 200 of each partition. */
  readonly attempts: {
    /** How many were dequeued at least once. */
    readonly tried: number;
    /** How many of these failed their last attempt that ended, with an error. */
    readonly failed: number;
    /** When the first of their attempts failed since a task was completed; 0 for none. */
    readonly since: number;
    /** When the last one failed; 0 for none. */
    readonly lastAt: number;
    /** The task of the last one. */
    readonly id: string;
    /** Its error. */
    readonly error: ErrorSummary | undefined;
    /** The last error of an earlier attempt of a task that is working. */
    readonly workingError: ErrorSummary | undefined;
  };
  /** The attempts that failed with an error and are tried again, by statistics, within the time that was asked for. */
  readonly requeued: {
    readonly attempts: number;
    /** The first minute that had some; 0 for none. */
    readonly since: number;
  };
  /** When a task was completed last, as far as it is known; 0 if it is not. */
  readonly completedAt: number;
  /** Whether no task was completed later, because statistics count all. */
  readonly isCompletionKnown: boolean;
  /** No task was taken after that; undefined if it is not known. */
  readonly lastTakenAt: number | undefined;
  /** No attempt ended after that; undefined if it is not known, because that needs statistics. */
  readonly lastEndedAt: number | undefined;
  /** When a worker that gives its name was last seen; null if none is registered. */
  readonly workerSeenAt: number | null;
  /** Workers that were failed and have not come back, the last one first. */
  readonly lostWorkers: readonly LostWorker[];
  /** Working tasks of which several leases expired since a holder requeued them, at most ten of each partition. */
  readonly expiring: readonly { readonly id: string; readonly leases: number }[];
  /** Leases that expired within the time that was asked for, or whose worker fell silent; 0 if that is not known. */
  readonly expired: {
    readonly leases: number;
    /** How many minutes had such leases. */
    readonly minutes: number;
    /** The end of the last of these minutes; 0 for none. */
    readonly lastAt: number;
  };
  /** Pending tasks that wait for the limit of their group. */
  readonly limited: number;
  /** Groups with such tasks, at most five. */
  readonly groups: readonly GroupAtLimit[];
  /** Schedules that were due some minutes ago and have not occurred. `first`: at most ten. */
  readonly lateSchedules: {
    readonly count: number;
    readonly first: readonly { readonly name: string; readonly at: number }[];
  };
  /** `at`: since when. At most ten. */
  readonly pausedSchedules: readonly {
    readonly name: string;
    readonly at: number;
    readonly skipped: Skipped;
  }[];
  /** Dead letters within the time that was asked for. Without any, the instants say nothing. */
  readonly newDeadLetters: { readonly count: number; readonly firstAt: number; readonly lastAt: number };
}

export interface GroupAtLimit {
  readonly group: string;
  readonly paused: boolean;
  /** When the pause ends; null if it lasts until it is resumed. */
  readonly pausedUntil: number | null;
  readonly maxWorking: number | null;
  readonly rate: Rate<number> | null;
  readonly working: number;
  readonly limited: number;
  /** When the next of its tasks was enqueued. */
  readonly oldestAt: number;
}
