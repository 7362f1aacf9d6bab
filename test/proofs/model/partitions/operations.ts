/** The operations on a queue with partitions, as plain values that can be printed. Durations are in ms. */
import type { AskedTask, Mishap, OperationSettlement } from "../operations.ts";

export type NewModelTask = AskedTask & { readonly payload: number };

export interface Pull {
  readonly max: number;
  readonly lease?: number | undefined;
  /** The caller's. */
  readonly token?: string | undefined;
}

export type PartitionedOperation =
  | { readonly does: "enqueue"; readonly tasks: readonly NewModelTask[]; readonly key?: string | undefined }
  | { readonly does: "dequeue"; readonly pull: Pull }
  /** A dequeue with the caller's token, which another instance sends again. */
  | { readonly does: "dequeueTwice"; readonly pull: Pull; readonly other: number }
  | {
      readonly does: "settle";
      readonly items: readonly OperationSettlement[];
      readonly pull?: Pull | undefined;
    }
  | { readonly does: "cancel" | "get"; readonly id: string }
  | { readonly does: "counts" }
  | { readonly does: "sweep"; readonly lone: boolean }
  | {
      readonly does: "resize";
      readonly count: number;
      /** After how many requests it stops. @default never */
      readonly stopAfter?: number | undefined;
    };

/** What happens in the midst of a call, before its request with that number, from 0. */
export interface Meanwhile {
  readonly request: number;
  readonly count: number;
  readonly stopAfter?: number | undefined;
}

/** One call: what, by which instance, and what goes wrong. */
export interface PartitionedCall {
  readonly operation: PartitionedOperation;
  /** Number of the instance. */
  readonly by: number;
  readonly mishap: Mishap;
  /** The request that the mishap hits, from 1. */
  readonly nth: number;
  readonly meanwhile?: Meanwhile | undefined;
}
