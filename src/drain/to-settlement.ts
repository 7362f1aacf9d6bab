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
 * The settlement of a task whose handler has done its work; undefined if it has not, or if its result is neither plain
 * JSON nor bytes, or too large. The result is copied at once, because the handler's code may still change it.
 */
export function completionOf(
  { receipt }: Leased,
  outcome: TaskOutcome | undefined,
): SizedSettlement | undefined {
  try {
    if (outcome?.outcome !== "complete") return undefined;
    const { result } = outcome;
    const completion = (copy: unknown, bytes: number): SizedSettlement => {
      return { settlement: { receipt, outcome: "complete", result: copy }, bytes };
    };
    if (result === undefined) return completion(result, 0);
    if (result instanceof Uint8Array && result.length <= MAX_VALUE_BYTES) {
      return completion(new Uint8Array(result), 4 * Math.ceil(result.length / 3) + 1);
    }
    const json = plainJson(result);
    const size = json && byteLength(json);
    return size && size <= MAX_VALUE_BYTES ? completion(JSON.parse(json), size + 1) : undefined;
  } catch {
    return undefined;
  }
}

/** The settlement that hands back a task that was not begun. */
export function handBack({ receipt }: Leased): SizedSettlement {
  return { settlement: { receipt, outcome: "requeue", unstarted: true }, bytes: 0 };
}

export function isHandBack(settlement: Settlement): boolean {
  return settlement.outcome === "requeue" && settlement.unstarted === true;
}

export function extension({ receipt }: Leased): SizedSettlement {
  return { settlement: { receipt, outcome: "extend" }, bytes: 0 };
}
