/** Milliseconds as a number, or a text such as `"250ms"`, `"30s"`, `"5m"`, `"2h"`, `"7d"`. */
export type Duration = number | string;

export type TaskState = "pending" | "delayed" | "working" | "completed" | "rejected";

/** Why a task is rejected: by its holder, by running out of attempts, or by being cancelled. */
export type RejectReason = "rejected" | "attempts_exhausted" | "lease_expired" | "cancelled";

/** What a queue, or one task, may fix at enqueue. */
export interface TaskDefaults {
  /** How long one attempt may take before the task is reclaimed. @default the dequeue's lease */
  readonly lease?: Duration | undefined;
  /** Deliveries after which a task is dead-lettered; 0 is no limit. @default 5 */
  readonly maxAttempts?: number | undefined;
  /** How long a completed task's record and result are kept; 0 keeps no result. @default "1h" */
  readonly resultTtl?: Duration | undefined;
  /** How long a dead letter is kept; 0 keeps none. @default "7d" */
  readonly deadTtl?: Duration | undefined;
  /** Wait before the task becomes pending. @default 0 */
  readonly delay?: Duration | undefined;
}

export interface EnqueueOptions extends TaskDefaults {
  /** The caller's id: `^[A-Za-z0-9][!-~]{0,127}$`. @default a generated, time-ordered id */
  readonly id?: string | undefined;
  /** Instant (epoch ms) at which the task becomes pending, instead of `delay`. */
  readonly at?: number | undefined;
  /** Text that travels with the payload, at most 16 KiB in all. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface NewTask<T> extends EnqueueOptions {
  readonly payload: T;
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * Makes a call that is repeated with the same key the same call: ids and tokens derive from it.
   * Scoped to the queue and the operation.
   */
  readonly idempotencyKey?: string | undefined;
}

export interface Enqueued {
  readonly id: string;
  /** False where the id was known already and belongs to another producer's call. */
  readonly created: boolean;
}

export interface DequeueOptions extends RequestOptions {
  /** At most this many tasks, 1 to 1,000. @default 1 */
  readonly max?: number | undefined;
  /** The lease of tasks that fixed none. @default the queue's, else "5m" */
  readonly lease?: Duration | undefined;
  /** Bound on the payload bytes of the reply; at least one task is always given. @default 8 MB */
  readonly maxBytes?: number | undefined;
  /** The caller's lease token, 8 to 64 characters of `[A-Za-z0-9_-]`: a resend with it gets the same tasks. */
  readonly token?: string | undefined;
}

export type Outcome = "complete" | "reject" | "requeue" | "extend";

/** One instruction of a settle call. */
export type Settlement =
  | { readonly receipt: string; readonly outcome: "complete"; readonly result?: unknown }
  | { readonly receipt: string; readonly outcome: "reject"; readonly error?: unknown }
  | {
      readonly receipt: string;
      readonly outcome: "requeue";
      readonly error?: unknown;
      readonly delay?: Duration | undefined;
      /** False refunds the attempt. @default true */
      readonly count?: boolean | undefined;
    }
  | { readonly receipt: string; readonly outcome: "extend"; readonly lease?: Duration | undefined };

/** What became of one settlement. */
export type Settled =
  | {
      readonly receipt: string;
      readonly ok: true;
      /** Where the task is now. A requeue on the last attempt says `rejected`. */
      readonly state: TaskState;
      readonly reason?: RejectReason | undefined;
      /** When the lease ends (extend), epoch ms. */
      readonly deadlineAt?: number | undefined;
      /** When the task is due again (requeue with a delay), epoch ms. */
      readonly dueAt?: number | undefined;
      /** The task was cancelled while it was worked on: stop. */
      readonly cancelRequested?: true | undefined;
    }
  /** `newer_schema`: a newer release of Sluice has changed the task's record; nothing was changed. */
  | { readonly receipt: string; readonly ok: false; readonly code: "lease_lost" | "newer_schema" };

export type Cancelled =
  /** `working`: its holder learns of it at the next extend or settle. */
  | { readonly ok: true; readonly state: "rejected" | "working" }
  | { readonly ok: false; readonly code: "not_found" | "already_ended" | "lease_lost" };

/** A task's state as `get` shows it. Instants are epoch ms. */
export interface TaskInfo {
  readonly id: string;
  readonly queue: string;
  readonly state: TaskState;
  readonly reason?: RejectReason | undefined;
  readonly attempt: number;
  readonly charged: number;
  /** Number of the current or last lease; 0 before the first. */
  readonly lease: number;
  /** Rises with every change of the record. */
  readonly version: number;
  readonly enqueuedAt: number;
  readonly dueAt?: number | undefined;
  readonly dequeuedAt?: number | undefined;
  readonly deadlineAt?: number | undefined;
  readonly requeuedAt?: number | undefined;
  readonly endedAt?: number | undefined;
  readonly cancelRequested?: true | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly result?: unknown;
  readonly error?: unknown;
}

export interface QueueCounts {
  readonly queue: string;
  readonly pending: number;
  readonly delayed: number;
  readonly working: number;
  /** Dead letters. */
  readonly rejected: number;
  /** Age of the task that is next in line, ms; null where none is pending. */
  readonly oldestAge: number | null;
  /** When the next delayed task is due or the next lease expires, epoch ms; null where there is none. */
  readonly nextDueAt: number | null;
  /** Entries that dequeue found to be without a usable record and put aside; 0 in a sound queue. */
  readonly broken: number;
}

export interface SweepCounts {
  /** Delayed tasks that became pending. */
  readonly promoted: number;
  /** Expired leases whose task became pending again. */
  readonly reclaimed: number;
  /** Expired leases whose task had no attempt left. */
  readonly rejected: number;
  /** Records whose time was over. */
  readonly expired: number;
  /** True where the limit or the budget ended the sweep with work left. */
  readonly more: boolean;
}
