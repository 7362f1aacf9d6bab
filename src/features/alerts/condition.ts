import type { QueueOverview } from "../../operate/count-queues.ts";
import type { HealthFinding } from "../../operate/health/index.ts";
import type { MinuteCounts } from "../../operate/statistics.ts";
import type { AlertCondition } from "./types.ts";

/** What is wrong with a queue or the database. */
export interface FoundBy {
  readonly findings: readonly HealthFinding[];
  /** The number of the last lease of the queue. */
  readonly leases?: number | undefined;
}

/** What was measured of a queue, as far as its rules need it. */
export interface Measured {
  readonly counts?: Pick<QueueOverview, "pending" | "working" | "oldestAge" | "paused" | "leases">;
  /** By `within`, ms. */
  readonly deadLetters?: ReadonlyMap<number, number>;
  /** Undefined too if the queue keeps no statistics. */
  readonly minutes?: readonly MinuteCounts[];
  /** What is wrong with the queue, or with the database, by `after`, ms. */
  readonly findings?: ReadonlyMap<number, FoundBy>;
  /** The endpoints that are disabled, of the database. */
  readonly disabled?: readonly DisabledEndpoint[];
}

/** An endpoint that is disabled because of what it answered. */
export interface DisabledEndpoint {
  readonly id: string;
  /** Whether it asked for it. If not, its deliveries have failed for days. */
  readonly isGone: boolean;
}

/** What a condition finds in what was measured. */
export interface Reading {
  readonly holds: boolean;
  /** The measured value; undefined if it is the time for which the condition has held. */
  readonly value?: number;
  /** If both have one, and it differs from that of the reading before, the condition begins to hold anew. */
  readonly mark?: string;
  /** @param lasting for how long the condition has held, ms */
  readonly text: (lasting: number) => string;
}

/** A checked condition. */
export interface Condition {
  readonly kind: AlertCondition;
  /** The name of a rule that has none. @default the kind */
  readonly name?: string;
  readonly threshold: number;
  /** For how long it must hold, ms; undefined if that is for the rule to say. */
  readonly holdsFor?: number;
  /** For how long it must hold if the rule does not say, ms. @default 0 */
  readonly holdsByDefault?: number;
  /** Whether it reads the counts of the queue. */
  readonly needsCounts?: true;
  /** Whether it reads the statistics of the queue. */
  readonly needsStatistics?: true;
  /** Which findings it reads. */
  readonly findings?: {
    /** How long a queue may be stuck, ms. */
    readonly after: number;
    readonly ofQueues: boolean;
    readonly ofDatabase: boolean;
  };
  /** Whether it reads which endpoints are disabled. It watches the database then. */
  readonly needsEndpoints?: true;
  /** The time within which it counts new dead letters, ms. */
  readonly deadLettersWithin?: number;
  /** Returns undefined if what it needs could not be measured. */
  readonly read: (queue: string, measured: Measured) => Reading | undefined;
}
