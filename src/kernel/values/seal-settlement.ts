import type { MaybePromise } from "../maybe-promise.ts";
import { readReceipt } from "../names/receipt.ts";
import type { Settlement } from "../options/types.ts";
import { isUnreadable } from "../record/unreadable.ts";
import type { Values } from "./values.ts";

/** The kind of value that each outcome has. */
const KIND_OF_OUTCOME = {
  complete: "result",
  reject: "error",
  requeue: "error",
  extend: "progress",
} as const;

/**
 * Seals the result, error or progress of a settlement.
 * @param encoded the value as the codec wrote it; empty if there is none
 * @param at path of the settlement, for errors
 * @throws {SluiceError} `too_large`, for progress
 */
export function sealSettlement(
  values: Values,
  settlement: Settlement,
  encoded: string,
  at: string,
): MaybePromise<string> {
  if (!values.areSealed || encoded === "") return encoded;
  // Such an error does not quote the value, and must be readable without the key.
  if ("error" in settlement && isUnreadable(settlement.error)) return encoded;
  const kind = KIND_OF_OUTCOME[settlement.outcome];
  const { id } = readReceipt(settlement.receipt, `${at}.receipt`);
  return values.seal({ kind, id }, encoded, `${at}.${kind}`);
}
