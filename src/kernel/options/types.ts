import type { Backoff } from "./backoff.ts";
import type { Duration } from "./duration.ts";

/** The states of a task. */
export const taskStates = ["pending", "delayed", "blocked", "working", "completed", "rejected"] as const;

/** The state of a task. */
export type TaskState = (typeof taskStates)[number];

/** The reasons why a task is rejected. */
export const rejectReasons = [
  "rejected",
  "attempts_exhausted",
  "lease_expired",
  "taken_back",
  "cancelled",
  "dependency_failed",
] as const;

/**
 * Why a task is rejected: by its holder, because its attempts or its last lease ran out, because an operator took it
 * back from its last attempt, because it was cancelled, or because a task of its flow did not complete that it waited for.
 */
export type RejectReason = (typeof rejectReasons)[number];

/** Why dead letters were rejected. Cancelled tasks are no dead letters. */
export const deadReasons = rejectReasons.filter((reason) => reason !== "cancelled");

/** Of these, those that another attempt may help: all except a rejection for good by its consumer, and what fell with another task. */
export const retryableReasons = deadReasons.filter(
  (reason) => reason !== "rejected" && reason !== "dependency_failed",
);

/** Options of a read of one task. */
export interface GetOptions extends RequestOptions {
  /** Whether to return the payload. Over HTTP the token then needs the scope `admin`. @default false */
  readonly payload?: boolean | undefined;
}

/** Options that a task fixes at enqueue. Those of the queue are the defaults. */
export interface TaskDefaults {
  /** How long an attempt may take before the task is reclaimed. @default the dequeue's lease */
  readonly lease?: Duration | undefined;
  /** Most attempts before the task becomes a dead letter, 0 to 1,000,000; 0 is no limit. @default 10 */
  readonly maxAttempts?: number | undefined;
  /** How long a completed task's record and result are kept. 0 keeps no result. @default "1h" */
  readonly resultTtl?: Duration | undefined;
  /** How long a dead letter is kept. 0 keeps none. @default "7d" */
  readonly deadTtl?: Duration | undefined;
  /** Wait before the task becomes pending. @default 0 */
  readonly delay?: Duration | undefined;
  /**
   * For how long from its enqueue on the task's `id` is unique: another enqueue with the id is refused as a
   * duplicate (`created: false`), even if the task has completed, was cancelled, or its record was removed. It
   * needs an `id`; that of a queue applies to tasks that have one. `again` overrides that of a queue, and must
   * not be given with that of a task.
   * @default 0: as long as the task or its record is kept, and five minutes after the end
   */
  readonly unique?: Duration | undefined;
}

/** Marks tasks that are the same work: only the first within the window is added. */
export interface Dedup {
  /** The key, named like an id and scoped to the queue. */
  readonly key: string;
  /** How long the key belongs to its first task, even after that task has ended. At least 1 ms. */
  readonly window: Duration;
}

export interface EnqueueOptions extends TaskDefaults {
  /** The caller's id: `^[A-Za-z0-9][!-~]{0,127}$`. @default a generated, time-ordered id */
  readonly id?: string | undefined;
  /** When the task becomes pending, instead of `delay`: a `Date`, or epoch ms. */
  readonly at?: Date | number | undefined;
  /** The tenant or client of the task, named like an id. Groups share a queue fairly. @default none */
  readonly group?: string | undefined;
  /** 0 to 9. Tasks of a higher priority are delivered before all others. @default 0 */
  readonly priority?: number | undefined;
  /**
   * Adds only the first task with the key within the window. Enqueues of further tasks return its id.
   * @default none
   */
  readonly dedup?: Dedup | undefined;
  /**
   * True adds the task even if the last one with its `id` has ended; the old record is removed.
   * @default false
   */
  readonly again?: boolean | undefined;
  /** Texts that are delivered with the payload, at most 16 KiB of JSON in all. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A task to enqueue. */
export interface NewTask<T> extends EnqueueOptions {
  readonly payload: T;
}

/** Options of every call that is a request. */
export interface RequestOptions {
  /** Aborts the request; the call then throws `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /**
   * A repeated call with the same key has the effect of one: ids and tokens derive from the key. An enqueue
   * of other tasks with a used key throws `idempotency_key_reused`. Scoped to the queue and the operation. 1
   * to 255 visible ASCII characters.
   * @default every call is a new one
   */
  readonly idempotencyKey?: string | undefined;
}

/** Options of a call that lists by pages. */
export interface ListOptions extends RequestOptions {
  /** The cursor of the page before. @default the first page */
  readonly cursor?: string | undefined;
  /** About how many items a page has, 1 to 1,000. @default 100 */
  readonly size?: number | undefined;
}

/** The result of an enqueue. */
export interface Enqueued {
  /** The id of the task. With `dedup` the id of the first task with the key. */
  readonly id: string;
  /** False if another call has enqueued the id, or a task with the key, before. */
  readonly created: boolean;
}

export interface DequeueOptions extends RequestOptions {
  /** Most tasks to lease, 1 to 1,000. @default 1 */
  readonly max?: number | undefined;
  /** The lease of tasks that have none of their own. @default the queue's, else "5m" */
  readonly lease?: Duration | undefined;
  /** Most bytes of payloads; one task is returned anyway. @default the queue's, else 8 MB */
  readonly maxBytes?: number | undefined;
  /** The worker that takes the tasks. Registers it with the queue, so that it can be failed. @default none */
  readonly worker?: Worker | undefined;
  /**
   * The token of the leases, 8 to 64 characters of `[A-Za-z0-9_-]`: a resend with it returns the same tasks, also
   * after an abort.
   */
  readonly token?: string | undefined;
  /** How long to wait if there is no task, up to "1m". @default 0 */
  readonly wait?: Duration | undefined;
}

/** The name of a worker: a process that takes tasks. */
export interface WorkerName {
  /** Named like an id. */
  readonly name: string;
  /** Distinguishes the process from earlier ones with the same name; named like an id. @default none */
  readonly incarnation?: string | undefined;
}

/** What a worker reports of itself. */
export interface Worker extends WorkerName {
  /** The machine: any text of at most 128 characters. */
  readonly node?: string | undefined;
  /** The id of the process. */
  readonly pid?: number | undefined;
  /**
   * The worker counts as dead after this time without a dequeue or heartbeat: a sweep then reclaims its
   * tasks. An extend does not count.
   * @default never: its leases expire one by one. An hour after its last dequeue or heartbeat it leaves the
   *   list of workers, unless it has tasks
   */
  readonly silentAfter?: Duration | undefined;
  /**
   * Lists call the worker gone after this time without a dequeue or heartbeat, and working or idle until then. It keeps
   * its tasks until their leases expire, and leaves the list without tasks. `silentAfter` comes before it.
   * @default lists say only when the worker was last seen
   */
  readonly goneAfter?: Duration | undefined;
}

export interface HeartbeatOptions extends RequestOptions {
  /** The lease from now on. @default the lease of each task at its dequeue */
  readonly lease?: Duration | undefined;
  /**
   * Receipts of the leases to extend, at most 1,000. Any worker with the receipt extends a lease that was
   * taken without a worker. A lease of another worker or incarnation is not extended; its id is in `lost`.
   * @default all leases that the worker took. These include leases of a dequeue whose answer was lost: the
   *   worker does not know them, but they last as long as its heartbeats continue
   */
  readonly receipts?: readonly string[] | undefined;
}

/** The result of a heartbeat. */
export type Heartbeat =
  | {
      readonly ok: true;
      /** How many leases were extended. */
      readonly leases: number;
      /** The earliest of their new deadlines, epoch ms; null if no lease was extended. */
      readonly deadlineAt: number | null;
      /** Ids of tasks with an extended lease that were cancelled: stop these. */
      readonly cancelRequested: readonly string[];
      /**
       * With `receipts`: ids of tasks whose leases this worker does not have, or no longer has. Other workers
       * may have these tasks: stop them.
       */
      readonly lost?: readonly string[] | undefined;
    }
  /**
   * The worker was failed, and other workers may have its tasks: stop all work. Nothing was changed. The next
   * dequeue, or a heartbeat under a new incarnation, registers the worker again.
   */
  | { readonly ok: false; readonly code: "worker_lost" };

/** What to do with a leased task. */
export type Outcome = "complete" | "reject" | "requeue" | "extend";

/** One task to settle, and how. */
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
      /** Wait before the next attempt. @default 0 */
      readonly delay?: Duration | undefined;
      /**
       * Computes the delay from the attempt. True is 10 s, 30 s, 90 s, … up to 1 h, each jittered between half
       * and full.
       */
      readonly backoff?: Backoff | true | undefined;
      /** False refunds the attempt. @default true */
      readonly count?: boolean | undefined;
      /**
       * True hands back a task that was not started, uncounted: to the front, or to its old place if it has a
       * group or a priority.
       * @default false
       */
      readonly unstarted?: boolean | undefined;
      /**
       * True also pauses the queue for the delay, unless it is paused for longer. It costs 4 Redis commands more, in the
       * same request; with partitions as many for each.
       * @default false
       */
      readonly queue?: boolean | undefined;
    }
  | {
      readonly receipt: string;
      readonly outcome: "extend";
      /** The lease from now on. @default the lease at dequeue */
      readonly lease?: Duration | undefined;
      /** How far the work is, for `get` to show: anything that JSON can express, at most 1 KiB. */
      readonly progress?: unknown;
    };

/** The result of one settlement. */
export type Settled =
  | {
      readonly receipt: string;
      readonly ok: true;
      /** The new state. After a requeue on the last attempt it is `rejected`. */
      readonly state: TaskState;
      readonly reason?: RejectReason | undefined;
      /** When the lease ends (extend), epoch ms. */
      readonly deadlineAt?: number | undefined;
      /** When the task is due again (requeue with a delay), epoch ms. */
      readonly dueAt?: number | undefined;
      /** The task was cancelled while it was working: stop. */
      readonly cancelRequested?: true | undefined;
    }
  /** Nothing was changed. `newer_schema`: a newer release of Sluice wrote the task's record. */
  | { readonly receipt: string; readonly ok: false; readonly code: "lease_lost" | "newer_schema" };

/** Settles tasks in one request, as a `Queue` does. */
export interface Settler {
  settle(settlements: readonly Settlement[]): Promise<Settled[]>;
}

/** The result of a cancel. */
export type Cancelled =
  /** `working`: the holder of the task learns of it at the next extend or settle. */
  | { readonly ok: true; readonly state: "rejected" | "working" }
  | { readonly ok: false; readonly code: "not_found" | "already_ended" | "lease_lost" };
