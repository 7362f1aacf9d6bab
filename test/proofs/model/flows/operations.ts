/** The operations on flows, as plain values. */
import type { Operation } from "../operations.ts";
import type { QueueName } from "./state.ts";

export interface FlowOperationTask {
  readonly ref: string;
  readonly queue: QueueName;
  readonly after?: readonly (string | { readonly ref: string; readonly on: "completed" | "ended" })[];
  readonly payload: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly delay?: number | undefined;
  readonly lease?: number | undefined;
  readonly maxAttempts?: number | undefined;
  readonly resultTtl?: number | undefined;
  readonly deadTtl?: number | undefined;
  readonly group?: string | undefined;
  readonly priority?: number | undefined;
}

export interface FlowOperationFlow {
  readonly ref: string;
  readonly after?: FlowOperationTask["after"];
  readonly flow: readonly FlowOperationItem[];
}

export type FlowOperationItem = FlowOperationTask | FlowOperationFlow;

export type FlowOperation =
  | {
      readonly does: "addFlow";
      readonly id: string;
      readonly items: readonly FlowOperationItem[];
      readonly onFailure?: "cancel" | undefined;
    }
  | { readonly does: "cancelFlow"; readonly id: string }
  | { readonly does: "redriveFlow"; readonly id: string }
  | { readonly does: "before"; readonly id: string }
  /** A call of a caller that dies after some more requests than its first one. */
  | { readonly does: "dying"; readonly requests: number; readonly operation: Operation };
