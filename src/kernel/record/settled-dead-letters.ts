import { summarizeError } from "../errors/error-summary.ts";
import { readReceipt } from "../names/receipt.ts";
import type { Settled, Settlement } from "../options/types.ts";
import { type DeadLetter, type OnDeadLetter, reportDeadLetter } from "./dead-letter.ts";

/**
 * Reports the dead letters that a settle has made.
 * @param settled a result for each settlement, in their order
 */
export function reportSettled(
  onDeadLetter: OnDeadLetter | undefined,
  queue: string,
  settlements: readonly Settlement[],
  settled: readonly Settled[],
): void {
  if (!onDeadLetter) return;
  for (const [i, result] of settled.entries()) {
    const settlement = settlements[i];
    if (!settlement || !result.ok || result.state !== "rejected") continue;
    const reason = result.reason as DeadLetter["reason"] | "cancelled" | undefined;
    if (reason === undefined || reason === "cancelled") continue;
    const { id, attempt: attempts } = readReceipt(settlement.receipt, "receipt");
    const error = "error" in settlement ? summarizeError(settlement.error) : undefined;
    const letter = { queue, id, reason, attempts };
    void reportDeadLetter(onDeadLetter, error === undefined ? letter : { ...letter, error });
  }
}
