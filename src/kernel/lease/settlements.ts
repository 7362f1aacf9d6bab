import { andThen, type MaybePromise } from "../maybe-promise.ts";
import { readReceipt } from "../names/receipt.ts";
import { OnDemand } from "../on-demand.ts";
import { MAX_VALUE_BYTES } from "../options/limits.ts";
import type { Settled, Settlement } from "../options/types.ts";
import { optionsObject } from "../options/validation.ts";
import { plainJson } from "../record/plain-json.ts";
import type { settleScript } from "../scripts/take-scripts.ts";
import type { SettlementArguments } from "../store.ts";
import { sealSettlement } from "../values/seal-settlement.ts";
import type { Values } from "../values/values.ts";

const other = new OnDemand(() => import("./settlement-arguments.ts"));

/**
 * One settlement as the settle script takes it. The result is not a promise if it is a completion with plain JSON, or
 * with nothing, unless values are sealed.
 * @param at path of the settlement, for errors
 * @throws {SluiceError} `invalid_argument`, `too_large`; at once if it is not an object
 */
export function sealedArguments(
  values: Values,
  settlement: Settlement,
  at: string,
): MaybePromise<SettlementArguments> {
  optionsObject(settlement, `${at}.`);
  const completion = other.isLoading ? undefined : plainCompletion(settlement, at);
  if (completion) {
    const text = sealSettlement(values, settlement, completion.text, at);
    return andThen(text, (sealed) => ({ ...completion, text: sealed }));
  }
  return other.use(({ anySealedArguments }) => anySealedArguments(values, settlement, at));
}

/** Undefined if a settlement is anything else, or has a `ttl`: its record is then kept for a time of its own. */
function plainCompletion(settlement: Settlement, at: string): SettlementArguments | undefined {
  if (settlement.outcome !== "complete") return undefined;
  const { receipt, outcome, result, ttl, ...unknown } = settlement;
  if (ttl !== undefined || Object.keys(unknown).length > 0) return undefined;
  const json = result === undefined ? "" : plainJson(result, MAX_VALUE_BYTES);
  if (json === undefined) return undefined;
  const { place, id, lease, token } = readReceipt(receipt, `${at}.receipt`);
  return { place, id, proof: `${lease},${token}`, terms: outcome, text: json && `j${json}` };
}

/** The results of settlements, in their order. */
export function readSettled(
  settlements: readonly Pick<Settlement, "receipt">[],
  replies: ReturnType<typeof settleScript.decode>,
): Settled[] {
  return replies.map(({ state, reason, at, cancelRequested }, i) => {
    const { receipt } = settlements[i] as Settlement;
    if (state === "lost") return { receipt, ok: false, code: "lease_lost" };
    if (state === "newer") return { receipt, ok: false, code: "newer_schema" };
    if (state === "completed" && !cancelRequested) return { receipt, ok: true, state };
    return {
      receipt,
      ok: true,
      state,
      ...(reason !== "" && { reason }),
      ...(state === "working" && { deadlineAt: at }),
      ...(state === "delayed" && { dueAt: at }),
      ...(cancelRequested && { cancelRequested }),
    };
  });
}
