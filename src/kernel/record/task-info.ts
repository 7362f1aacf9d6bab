import type { RejectReason, TaskState, WorkerName } from "../options/types.ts";

/** A change of a task's state. */
export interface Transition {
  readonly version: number;
  /** `cancelRequested`: the task is still working, and its holder is asked to stop. */
  readonly to: TaskState | "cancelRequested";
  /** When, epoch ms. */
  readonly at: number;
}

/** An attempt that did not complete its task. */
export interface AttemptError {
  /** Which delivery it was, from 1. */
  readonly attempt: number;
  /** When it ended, epoch ms. */
  readonly at: number;
  /**
   * The error with which the attempt was requeued or rejected, as text: `name: message` of an exception, other
   * values as JSON; at most 200 characters. Null if its lease expired or its worker fell silent: the consumer
   * crashed, hung or lost its connection; and if it was taken back. Bytes if it is encrypted and the queue has `encryption: null`.
   */
  readonly error: string | Uint8Array | null;
  /** An operator took the task back from its worker, with `failWorker`. */
  readonly takenBack?: true | undefined;
}

/** Options that a task fixed at enqueue, without those that have the default. Durations in ms. */
export interface FixedOptions {
  readonly lease?: number | undefined;
  readonly maxAttempts?: number | undefined;
  readonly resultTtl?: number | undefined;
  readonly deadTtl?: number | undefined;
  readonly unique?: number | undefined;
}

/** What `get` returns of a task in any state. Instants are epoch ms. */
interface AnyTaskInfo {
  readonly id: string;
  readonly queue: string;
  /** How many times the task was delivered. */
  readonly attempt: number;
  /** Attempts that count towards `maxAttempts`. */
  readonly charged: number;
  /** Number of the current or last lease; 0 before the first. */
  readonly lease: number;
  /** How many times a holder requeued the task. */
  readonly requeues: number;
  /** Rises with every transition except promotion. */
  readonly version: number;
  /** The last transitions, at most 16, oldest first. */
  readonly transitions: readonly Transition[];
  /**
   * The attempts that ended with an error, or that lost their lease: the last 16, oldest first. Kept as long as
   * the result or the last error.
   */
  readonly errors: readonly AttemptError[];
  readonly group?: string | undefined;
  readonly priority?: number | undefined;
  /** The worker that has the task, or had it last, if the dequeue named one. */
  readonly worker?: WorkerName | undefined;
  readonly enqueuedAt: number;
  /** The last delivery. */
  readonly dequeuedAt?: number | undefined;
  /** When a holder last requeued the task. */
  readonly requeuedAt?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Options that the task fixed at enqueue; absent if all are the defaults, or the payload is no longer kept. */
  readonly options?: FixedOptions | undefined;
  /** The payload, if it was asked for and is still kept. */
  readonly payload?: unknown;
  /** Of a delayed task: when it becomes pending. */
  readonly dueAt?: number | undefined;
  /** Of a working task: when its lease ends. */
  readonly deadlineAt?: number | undefined;
  /** Of a working task: its holder is asked to stop, because the task was cancelled. */
  readonly cancelRequested?: true | undefined;
  /** Of a task that has not ended: the last progress that a holder reported with `extend`. */
  readonly progress?: unknown;
  /** Of a completed or rejected task: when it ended. */
  readonly endedAt?: number | undefined;
  /** Of a rejected task: why. */
  readonly reason?: RejectReason | undefined;
  /** Of a completed task: what its handler returned. */
  readonly result?: unknown;
  /** Of a task that is not completed: the error of the last attempt that failed, in full. */
  readonly error?: unknown;
  /**
   * Over HTTP, if the token hides payloads: payload, result, progress and headers are left out, whether the task
   * has them or not.
   */
  readonly payloadsHidden?: true | undefined;
}

/** A pending task, as `get` returns it. */
export interface PendingTaskInfo extends AnyTaskInfo {
  readonly state: "pending";
  readonly dueAt?: undefined;
  readonly deadlineAt?: undefined;
  readonly cancelRequested?: undefined;
  readonly endedAt?: undefined;
  readonly reason?: undefined;
  readonly result?: undefined;
}

/** A delayed task, as `get` returns it. */
export interface DelayedTaskInfo extends AnyTaskInfo {
  readonly state: "delayed";
  readonly dueAt: number;
  readonly deadlineAt?: undefined;
  readonly cancelRequested?: undefined;
  readonly endedAt?: undefined;
  readonly reason?: undefined;
  readonly result?: undefined;
}

/** A task of a flow that waits for others, as `get` returns it. */
export interface BlockedTaskInfo extends AnyTaskInfo {
  readonly state: "blocked";
  readonly dueAt?: undefined;
  readonly deadlineAt?: undefined;
  readonly cancelRequested?: undefined;
  readonly endedAt?: undefined;
  readonly reason?: undefined;
  readonly result?: undefined;
}

/** A working task, as `get` returns it. */
export interface WorkingTaskInfo extends AnyTaskInfo {
  readonly state: "working";
  readonly deadlineAt: number;
  readonly dequeuedAt: number;
  readonly dueAt?: undefined;
  readonly endedAt?: undefined;
  readonly reason?: undefined;
  readonly result?: undefined;
}

/** A completed task, as `get` returns it. */
export interface CompletedTaskInfo extends AnyTaskInfo {
  readonly state: "completed";
  readonly endedAt: number;
  readonly dueAt?: undefined;
  readonly deadlineAt?: undefined;
  readonly cancelRequested?: undefined;
  readonly reason?: undefined;
  readonly error?: undefined;
}

/** A rejected task, as `get` returns it: a dead letter, or a cancelled task. */
export interface RejectedTaskInfo extends AnyTaskInfo {
  readonly state: "rejected";
  readonly reason: RejectReason;
  readonly endedAt: number;
  readonly dueAt?: undefined;
  readonly deadlineAt?: undefined;
  readonly cancelRequested?: undefined;
  readonly result?: undefined;
}

/** A task as `get` returns it. Its `state` says which fields it has. Instants are epoch ms. */
export type TaskInfo =
  | PendingTaskInfo
  | DelayedTaskInfo
  | BlockedTaskInfo
  | WorkingTaskInfo
  | CompletedTaskInfo
  | RejectedTaskInfo;
