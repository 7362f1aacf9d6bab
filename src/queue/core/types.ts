import type { Backoff } from "./backoff.ts";
import type { Duration } from "./duration.ts";

export const taskStates = ["pending", "delayed", "working", "completed", "rejected"] as const;

export type TaskState = (typeof taskStates)[number];

export const rejectReasons = ["rejected", "attempts_exhausted", "lease_expired", "cancelled"] as const;

/** Why a task is rejected: by its holder, by running out of attempts, or by being cancelled. */
export type RejectReason = (typeof rejectReasons)[number];

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

/** A key that tells that two tasks are the same work. */
export interface Dedup {
  /** Named like an id; scoped to the queue. */
  readonly key: string;
  /** For how long the key stands for its first task, whatever becomes of that. */
  readonly window: Duration;
}

export interface EnqueueOptions extends TaskDefaults {
  /** The caller's id: `^[A-Za-z0-9][!-~]{0,127}$`. @default a generated, time-ordered id */
  readonly id?: string | undefined;
  /** Instant (epoch ms) at which the task becomes pending, instead of `delay`. */
  readonly at?: number | undefined;
  /** The tenant or client that the task belongs to: groups share a queue fairly. Named like an id. @default none */
  readonly group?: string | undefined;
  /** 0 to 9; a higher one is delivered before any lower one. @default 0 */
  readonly priority?: number | undefined;
  /** Of tasks with the same key only the first within its window is added; the others are answered with its id. */
  readonly dedup?: Dedup | undefined;
  /** True: an `id` whose task has ended begins a new life, and the old record goes. @default false */
  readonly again?: boolean | undefined;
  /** Text that travels with the payload, at most 16 KiB in all. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface NewTask<T> extends EnqueueOptions {
  readonly payload: T;
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * A call that is repeated with the same key is the same call: ids and tokens derive from it. An enqueue of
   * other tasks with a used key throws `idempotency_key_reused`. Scoped to the queue and the operation. 1 to 255
   * visible ASCII characters.
   */
  readonly idempotencyKey?: string | undefined;
}

export interface Enqueued {
  /** The task's id: with `dedup`, that of the first task with the key. */
  readonly id: string;
  /** False where the id, or the key, was known already and belongs to another producer's call. */
  readonly created: boolean;
}

export interface DequeueOptions extends RequestOptions {
  /** At most this many tasks, 1 to 1,000. @default 1 */
  readonly max?: number | undefined;
  /** The lease of tasks that fixed none. @default the queue's, else "5m" */
  readonly lease?: Duration | undefined;
  /** Bound on the payload bytes of the reply; at least one task is always given. @default 8 MB */
  readonly maxBytes?: number | undefined;
  /** Who takes the tasks; makes it a listener of the queue, and lets {@link WorkerName | its name} be failed. */
  readonly worker?: Worker | undefined;
  /** The caller's lease token, 8 to 64 characters of `[A-Za-z0-9_-]`: a resend with it gets the same tasks. */
  readonly token?: string | undefined;
  /**
   * Where there is no task: how long to wait for one, up to "1m". @default 0, answer at once
   */
  readonly wait?: Duration | undefined;
}

/** One process that works. */
export interface WorkerName {
  /** Named like an id. */
  readonly name: string;
  /** Tells a process from its predecessor of the same name; named like an id. @default none */
  readonly incarnation?: string | undefined;
}

export interface Worker extends WorkerName {
  /** The machine; any text up to 128 characters. */
  readonly node?: string | undefined;
  /** The process on it. */
  readonly pid?: number | undefined;
  /**
   * After so long without a dequeue or heartbeat the worker counts as dead: a sweep gives its tasks back. An extend
   * is no such sign. @default never: its leases expire one by one, and an hour after its last sign it leaves the list of
   * workers, unless it has tasks
   */
  readonly silentAfter?: Duration | undefined;
}

export interface HeartbeatOptions extends RequestOptions {
  /** @default what each task's lease was at its dequeue */
  readonly lease?: Duration | undefined;
  /**
   * Receipts of the leases to extend, at most 1,000. A lease that was taken without a worker is extended by any worker
   * with its receipt. A lease of another worker or incarnation is not extended; its id is in `lost`.
   * @default all leases that the worker took. That includes those of a dequeue whose answer was lost: nobody works on
   *   them, and they last as long as the heartbeats go on
   */
  readonly receipts?: readonly string[] | undefined;
}

/** What a heartbeat says. */
export type Heartbeat =
  | {
      readonly ok: true;
      /** How many tasks the worker has. */
      readonly leases: number;
      /** Until when all their leases last at least, epoch ms; null where it has none. */
      readonly deadlineAt: number | null;
      /** Ids of those that were cancelled while it works on them: stop. */
      readonly cancelRequested: readonly string[];
      /** If receipts were given: ids of tasks that are not, or no longer, its own. Others may work on them: stop. */
      readonly lost?: readonly string[] | undefined;
    }
  /**
   * It was failed with tasks in its hands, which others work on by now: stop all work. The next dequeue, or a
   * heartbeat under a new incarnation, makes it a worker again. Nothing was changed.
   */
  | { readonly ok: false; readonly code: "worker_lost" };

export type Outcome = "complete" | "reject" | "requeue" | "extend";

/** One instruction of a settle call. */
export type Settlement =
  | {
      readonly receipt: string;
      readonly outcome: "complete";
      readonly result?: unknown;
      /** How long the record and its result are kept. @default the task's resultTtl */
      readonly ttl?: Duration | undefined;
    }
  | {
      readonly receipt: string;
      readonly outcome: "reject";
      readonly error?: unknown;
      /** How long the dead letter is kept. @default the task's deadTtl */
      readonly ttl?: Duration | undefined;
    }
  | {
      readonly receipt: string;
      readonly outcome: "requeue";
      readonly error?: unknown;
      readonly delay?: Duration | undefined;
      /** Instead of `delay`, what it says of this attempt; true: exponential with full jitter, 1 s to 15 min. */
      readonly backoff?: Backoff | true | undefined;
      /** False refunds the attempt. @default true */
      readonly count?: boolean | undefined;
      /**
       * True hands back a task that was not begun, uncounted: to the front, or to its old place if it has a group or a
       * priority. @default false
       */
      readonly unstarted?: boolean | undefined;
    }
  | {
      readonly receipt: string;
      readonly outcome: "extend";
      readonly lease?: Duration | undefined;
      /** How far the work is: anything that JSON expresses, at most 1 KiB; `get` shows the last. */
      readonly progress?: unknown;
    };

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

/** Settles tasks in one request: a queue, or what stands for one. */
export interface Settler {
  settle(settlements: readonly Settlement[]): Promise<Settled[]>;
}

export type Cancelled =
  /** `working`: its holder learns of it at the next extend or settle. */
  | { readonly ok: true; readonly state: "rejected" | "working" }
  | { readonly ok: false; readonly code: "not_found" | "already_ended" | "lease_lost" };

/** One change of a task's state, epoch ms. */
export interface Transition {
  readonly version: number;
  /** `cancelRequested`: it goes on working, and its holder is to stop. */
  readonly to: TaskState | "cancelRequested";
  readonly at: number;
}

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
  /** How often a holder requeued it. */
  readonly requeues: number;
  /** Rises with every transition but promotion. */
  readonly version: number;
  /** The last transitions, at most 16, oldest first. */
  readonly transitions: readonly Transition[];
  readonly group?: string | undefined;
  readonly priority?: number | undefined;
  /** Who works on it, or did last, where it said so. */
  readonly worker?: WorkerName | undefined;
  /** As the holder last told it with `extend`. */
  readonly progress?: unknown;
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
  /**
   * How long ago the task was enqueued that is next in line, ms; null if none is pending.
   *
   * Tasks without a group or priority form one line, all others a second one. This is the greater age of the
   * first tasks of the two. Tasks that their group's limit holds count only if no other task waits: no consumer
   * could take them.
   *
   * Tasks whose record cannot be read are looked past. The age is 0 if no other task is pending.
   */
  readonly oldestAge: number | null;
  /** When the next delayed task is due or the next lease expires, epoch ms; null where there is none. */
  readonly nextDueAt: number | null;
  /** Entries that dequeue found to be without a usable record and put aside; 0 in a sound queue. */
  readonly broken: number;
  /** Workers that take tasks from this queue and are not silent. */
  readonly workers: number;
  /** True while dequeue gives nothing. */
  readonly paused: boolean;
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
