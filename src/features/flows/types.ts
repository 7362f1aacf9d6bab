import type { RejectReason, TaskState } from "../../kernel/options/types.ts";
import type { EdgeOn } from "./graph/flow-items.ts";

/** `running` until the last task has ended; then `completed` if all tasks completed, else `rejected`. */
export type FlowState = "running" | "completed" | "rejected";

/** A task, or an inner flow, of a flow. */
export interface FlowNodeReport {
  /** With those of the flows it is in: `audit/rows`. */
  readonly ref: string;
  readonly kind: "task" | "flow";
  /** Undefined for an inner flow. */
  readonly queue?: string | undefined;
  readonly id?: string | undefined;
  /** Of an inner flow `blocked` until it has ended. Null if the record is gone. */
  readonly state: TaskState | null;
  /** Why it was rejected. */
  readonly reason?: RejectReason | undefined;
  /** With the reason `dependency_failed`: the ref of the nearest task before it that did not complete. */
  readonly because?: string | undefined;
  /** What it waits for. */
  readonly after: readonly { readonly ref: string; readonly on: EdgeOn | "failed" }[];
}

/** What has become of a flow. Instants are epoch ms. */
export interface FlowReport {
  /** `<name>@<queue>`. */
  readonly id: string;
  readonly state: FlowState;
  readonly createdAt: number;
  readonly endedAt?: number | undefined;
  /** Whether it was cancelled, by a call or by `onFailure: "cancel"`. */
  readonly isCancelled: boolean;
  readonly onFailure?: "cancel" | undefined;
  /** How many tasks are in each state. Inner flows are not counted. */
  readonly counts: Readonly<Record<TaskState, number>>;
  /** In an order in which each comes after what it waits for. */
  readonly nodes: readonly FlowNodeReport[];
}

/** What became of a task that another one waited for. */
export interface Before {
  readonly state: "completed" | "rejected" | null;
  /** Of a completed task. */
  readonly result?: unknown;
  /** Of a rejected one. */
  readonly error?: unknown;
  readonly reason?: RejectReason | undefined;
}
