import { byteLength } from "../kernel/record/byte-length.ts";
import { MAX_VALUE_BYTES } from "../kernel/options/limits.ts";
import { plainJson } from "../kernel/record/plain-json.ts";
import type { LeasedTask } from "../kernel/lease/leased-task.ts";
import type { Settlement } from "../kernel/options/types.ts";
import type { TaskOutcome } from "./types.ts";

export type Leased = Pick<LeasedTask, "receipt">;

/** A settlement whose values Redis can store, and their size. */
export interface SizedSettlement {
  readonly settlement: Settlement;
  readonly bytes: number;
  /** How long the handler ran, ms; absent if it did not. */
  readonly ranFor?: number | undefined;
  /** When it must have been sent if the lease is not extended, on the clock of `performance.now()`. @default unknown */
  readonly settleBy?: number | undefined;
}

/**
 * The settlement of a task whose handler has done its work; undefined if it has not, or if its result is not plain
 * JSON. The result is copied, because the handler's code may still change it.
 */
export function completionOf(
  { receipt }: Leased,
  outcome: TaskOutcome | undefined,
): SizedSettlement | undefined {
  try {
    if (outcome?.outcome !== "complete") return undefined;
    const { result } = outcome;
    if (result === undefined) return { settlement: { receipt, outcome: "complete" }, bytes: 0 };
    const json = plainJson(result, MAX_VALUE_BYTES);
    if (json === undefined) return undefined;
    const settlement: Settlement = { receipt, outcome: "complete", result: JSON.parse(json) as unknown };
    return { settlement, bytes: byteLength(json) + 1 };
  } catch {
    return undefined;
  }
}

/** The settlement that hands back a task that was not begun. */
export function handBack({ receipt }: Leased): SizedSettlement {
  return { settlement: { receipt, outcome: "requeue", unstarted: true }, bytes: 0 };
}

export function extension({ receipt }: Leased): SizedSettlement {
  return { settlement: { receipt, outcome: "extend" }, bytes: 0 };
}
