import type { AttemptError, TaskInfo } from "../kernel/record/task-info.ts";
import type { RequestOptions, Settled, Settlement } from "../kernel/options/types.ts";
import type { TaskSettler } from "../kernel/lease/leased-task.ts";
import type { RawTask } from "../kernel/lease/decode-tasks.ts";
import type { Queue } from "../open/queue.ts";
import type { QueueOptions } from "../open/options.ts";
import type { Values } from "../kernel/values/values.ts";

/** The server's reply to a dequeue. */
export interface DequeueReply {
  readonly tasks: readonly (Omit<RawTask, "payload"> & {
    readonly payload?: unknown;
    readonly encoding?: string;
  })[];
  readonly nextDueAt: number | null;
  readonly paused: boolean;
}

/** The error of an attempt as the server writes it. */
type ErrorReply = AttemptError & { readonly encoding?: string };

/** A task as the server writes it: bytes are in base64, with an encoding beside them. */
export type TaskReply = Omit<TaskInfo, "errors"> & {
  readonly errors: readonly ErrorReply[];
  readonly encoding?: string;
  readonly errorEncoding?: string;
  readonly payloadEncoding?: string;
};

/** A request that dequeues. */
export interface Pull {
  readonly options: RequestOptions;
  /** How much longer the server may wait for tasks, ms. */
  readonly wait: number;
  /** The JSON of the copy that is sent now. */
  body(): string;
}

/** What a dequeue needs of its queue. */
export interface DequeuingQueue<Out> {
  readonly name: string;
  readonly values: Values;
  readonly defaults: Pick<QueueOptions<unknown, Out>, "lease" | "maxBytes" | "schema">;
  readonly pull: (request: Pull) => Promise<DequeueReply>;
  readonly settle: (settlements: readonly Settlement[], options?: RequestOptions) => Promise<Settled[]>;
  readonly onSettle: TaskSettler["onSettle"];
}

/** The methods of a queue that work over HTTP too, with the same arguments and results. */
export type QueueOverHttp<In, Out> = Pick<
  Queue<In, Out>,
  | "name"
  | "enqueue"
  | "enqueueMany"
  | "dequeue"
  | "settle"
  | "settleAndDequeue"
  | "get"
  | "wait"
  | "watch"
  | "cancel"
  | "counts"
  | "heartbeat"
>;

/** The codes with which a call may be refused. */
export type Refusal<Result> = Result extends { ok: false; code: infer Code extends string } ? Code : never;
