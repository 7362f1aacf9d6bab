/** The operations of a queue as plain values, so that a failing run can be printed, shrunk and repeated. */
import type { KeyOptions } from "../../../src/features/debounce/types.ts";
import type { ModelPause } from "./pauses.ts";
import type { ModelFilter } from "./operate.ts";
import type { ModelNewTask } from "./enqueue.ts";
import type { ModelNewSchedule } from "./schedules.ts";
import type { QueueLimits, Rate } from "./state.ts";

export interface OperationWorker {
  readonly name: string;
  readonly incarnation?: string | undefined;
  readonly silentAfter?: number | undefined;
  readonly goneAfter?: number | undefined;
}

export type AskedTask = Omit<ModelNewTask, "id" | "derived"> & { readonly id?: string | undefined };

export interface OperationSettlement {
  readonly receipt: string;
  readonly outcome: "complete" | "reject" | "requeue" | "unstarted" | "extend";
  readonly ms?: number | undefined;
  readonly count?: boolean | undefined;
  /** Whether a requeue also pauses the queue for its delay. */
  readonly queue?: boolean | undefined;
  readonly text?: unknown;
}

export interface Pull {
  readonly token: string;
  readonly max: number;
  readonly lease?: number | undefined;
  readonly single?: boolean | undefined;
  readonly worker?: OperationWorker | undefined;
  /** Whether it is marked as a possible copy; a first copy is not. */
  readonly flagged: boolean;
  /** Whether it takes only what is ready, as a drain does that began with tasks that were handed over. */
  readonly readyOnly?: boolean | undefined;
}

export type GroupSetting = {
  paused?: boolean | { readonly for: number };
  weight?: number;
  maxWorking?: number | null;
  rate?: Rate | null;
  order?: "strict" | "none" | null;
  onDead?: "continue" | "stop" | null;
};

type Looks =
  | "counts"
  | "workers"
  | "groups"
  | "statistics"
  | "settings"
  | "deepSweep"
  | "listSchedules"
  | "stoppedGroups";
type Switches = "pause" | "resume";

/** One call. `key` is its idempotency key. */
export type Operation =
  | { [D in Looks]: { readonly does: D } }[Looks]
  | { readonly does: "resume"; readonly key: string; readonly waker?: boolean }
  | {
      readonly does: "pause";
      readonly key: string;
      readonly waker?: boolean;
      /** ms */
      readonly for?: number | undefined;
    }
  | {
      readonly does: "putSchedule";
      readonly key: string;
      readonly name: string;
      readonly schedule: ModelNewSchedule;
    }
  | {
      readonly does: "switchSchedule";
      readonly key: string;
      readonly name: string;
      readonly to: Switches;
    }
  /**
   * Continues the client's deep sweep by that many requests, or begins one; other calls happen in between.
   */
  | { readonly does: "deepSweepOn"; readonly requests: number }
  | { readonly does: "removeSchedule"; readonly key: string; readonly name: string }
  | { readonly does: "getSchedule"; readonly name: string }
  | {
      readonly does: "enqueue";
      readonly key: string;
      /** One without an id gets one that is made from the key. */
      readonly tasks: readonly AskedTask[];
      readonly waker: boolean;
    }
  | {
      readonly does: "enqueueNew";
      /** Tasks that may be plain, in a call without a key. */
      readonly tasks: readonly Omit<AskedTask, "again" | "unique" | "dedup">[];
      /** Whether it wakes a consumer, or has one that can begin the tasks at once. */
      readonly consumer: "none" | "elsewhere" | "here";
      /** Of tasks that are handed over, ms. */
      readonly lease: number;
    }
  /** With a key of `by`. Without an idempotency key each call is a new one. */
  | {
      readonly does: "enqueueKeyed";
      readonly key?: string | undefined;
      readonly task: AskedTask;
      readonly by: KeyOptions;
      readonly waker: boolean;
    }
  | { readonly does: "forgetKey"; readonly key?: string | undefined; readonly name: string }
  | ({ readonly does: "dequeue" } & Pull)
  | {
      readonly does: "settle";
      readonly key?: string | undefined;
      readonly items: readonly OperationSettlement[];
      readonly pull?: Pull | undefined;
    }
  | { readonly does: "cancel"; readonly id: string; readonly lease?: number | undefined }
  /** Each by a call of its own, some at the same time. */
  | { readonly does: "cancelMany"; readonly ids: readonly string[] }
  | { readonly does: "remove"; readonly id: string }
  | { readonly does: "get"; readonly id: string }
  | { readonly does: "skip"; readonly id: string }
  | ({
      readonly does: "redrive";
      readonly dryRun: boolean;
      readonly rate?: number | undefined;
      readonly limit?: number | undefined;
      readonly waker?: boolean;
    } & ModelFilter)
  | {
      readonly does: "redriveIds";
      readonly waker?: boolean;
      readonly ids: readonly { readonly id: string; readonly lease?: number | undefined }[];
    }
  | ({
      readonly does: "purge";
      readonly state: "pending" | "delayed" | "completed" | "rejected";
      readonly limit?: number | undefined;
    } & ModelFilter)
  | {
      readonly does: "configure";
      readonly key: string;
      readonly waker?: boolean;
      readonly changes: Partial<Omit<QueueLimits, keyof ModelPause>>;
    }
  | {
      readonly does: "configureGroup";
      readonly key: string;
      readonly group: string;
      readonly changes: GroupSetting;
    }
  | { readonly does: "drop"; readonly key: string; readonly force: boolean }
  | {
      readonly does: "heartbeat";
      readonly worker: OperationWorker;
      readonly lease?: number | undefined;
      readonly receipts?: readonly string[] | undefined;
    }
  | {
      readonly does: "fail";
      readonly worker: string | OperationWorker;
      readonly limit: number;
      readonly waker?: boolean;
    }
  | { readonly does: "forget"; readonly worker: OperationWorker }
  | { readonly does: "sweep"; readonly limit: number; readonly waker: boolean; readonly once: boolean }
  | { readonly does: "wakeAnother" }
  | ({
      readonly does: "list";
      readonly state: "pending" | "delayed" | "working" | "completed" | "rejected";
      readonly size: number;
    } & ModelFilter)
  | { readonly does: "invalid"; readonly which: number };

/** The operation of that name. */
export type Of<D extends Operation["does"]> = Extract<Operation, { does: D }>;

/** The pull of an operation, if it has one. */
export function pullOf(operation: Operation): Pull | undefined {
  if (operation.does === "dequeue") return operation;
  return operation.does === "settle" ? operation.pull : undefined;
}

/** What may happen to the request of a call on its way. */
export type Mishap = "none" | "reply lost" | "delivered twice" | "scripts forgotten";
