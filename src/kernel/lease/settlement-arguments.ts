/** What the settle script takes of settlements that are more than a completion with plain JSON. */
import { invalidArgument } from "../../errors.ts";
import type { SettlementArguments } from "../store.ts";
import { delayAfter } from "../options/backoff.ts";
import { encodeError, encodeValue } from "../record/codec.ts";
import { shortForm } from "../errors/error-text.ts";
import { milliseconds, type Duration } from "../options/duration.ts";
import { all, andThen, type MaybePromise } from "../maybe-promise.ts";
import { escaped, onlyOptions, trueOrFalse } from "../options/validation.ts";
import { encodeProgress } from "../record/record.ts";
import { readReceipt } from "../names/receipt.ts";
import type { Values } from "../values/values.ts";
import { sealSettlement } from "../values/seal-settlement.ts";
import type { Settlement } from "../options/types.ts";

function retention(ttl: Duration | undefined, at: string): number | undefined {
  return ttl === undefined ? undefined : milliseconds(ttl, `${at}.ttl`);
}

/** An outcome and its parameters, as the script takes them. */
function termsOf(...terms: readonly (string | number | undefined)[]): string {
  return terms.filter((term) => term !== undefined).join(" ");
}

const OPTIONS = new Map<unknown, readonly string[]>(
  Object.entries({
    complete: ["result", "ttl"],
    reject: ["error", "ttl"],
    requeue: ["error", "delay", "backoff", "count", "unstarted", "queue"],
    extend: ["lease", "progress"],
  }).map(([outcome, known]) => [outcome, ["receipt", "outcome", ...known]]),
);

/** A settlement before its values are sealed and put together. */
interface PlainArguments extends SettlementArguments {
  /** The short form of an error that is too long to be kept for each attempt; else empty. */
  readonly short: string;
}

/**
 * One settlement as the settle script takes it: any outcome, and any value.
 * @param at path of the settlement, for errors
 * @throws {SluiceError} `invalid_argument`, `too_large`
 */
export function anySealedArguments(
  queue: Values,
  settlement: Settlement,
  at: string,
): MaybePromise<SettlementArguments> {
  const { short, ...plain } = settlementArguments(settlement, at);
  const sealed = (text: string) => sealSettlement(queue, settlement, text, at);
  const withText = (value: string): SettlementArguments => ({
    ...plain,
    text: settlement.outcome === "extend" ? escaped(value) : value,
  });
  if (short === "") return andThen(sealed(plain.text), withText);
  return andThen(all([short, plain.text], sealed), (values) => withText(`s${values.join("\n")}`));
}

/**
 * One settlement before its value is sealed and escaped.
 * @throws {SluiceError} `invalid_argument`, `too_large`
 */
export function settlementArguments(settlement: Settlement, at: string): PlainArguments {
  onlyOptions(settlement, OPTIONS.get(settlement.outcome) ?? Object.keys(settlement), `${at}.`);
  const { outcome } = settlement;
  const { id, lease, token, charged, place } = readReceipt(settlement.receipt, `${at}.receipt`);
  const plain = { place, id, proof: `${lease},${token}`, terms: outcome as string, text: "", short: "" };
  const withError = (error: unknown) => {
    const text = encodeError(error, `${at}.error`);
    return { text, short: shortForm(error, text) };
  };
  switch (outcome) {
    case "complete":
      return {
        ...plain,
        terms: termsOf(outcome, retention(settlement.ttl, at)),
        text: settlement.result === undefined ? "" : encodeValue(settlement.result, `${at}.result`),
      };
    case "reject":
      return {
        ...plain,
        terms: termsOf(outcome, retention(settlement.ttl, at)),
        ...withError(settlement.error),
      };
    case "requeue": {
      const { delay, backoff, error, queue } = settlement;
      if (trueOrFalse(settlement.unstarted ?? false, `${at}.unstarted`)) {
        if ([delay, backoff, error, queue].some((value) => value !== undefined)) {
          throw invalidArgument(`${at}.unstarted`, "must not be given with delay, backoff, error or queue");
        }
        return { ...plain, terms: "unstarted" };
      }
      if (backoff !== undefined && delay !== undefined) {
        throw invalidArgument(`${at}.backoff`, `must not be given with ${at}.delay`);
      }
      const ms =
        backoff === undefined
          ? milliseconds(delay ?? 0, `${at}.delay`)
          : delayAfter(charged, backoff, Math.random, `${at}.backoff`);
      const isCounted = trueOrFalse(settlement.count ?? true, `${at}.count`);
      return {
        ...plain,
        terms: termsOf(outcome, ms, isCounted ? undefined : "uncounted"),
        pause: trueOrFalse(queue ?? false, `${at}.queue`) ? ms : 0,
        ...withError(error),
      };
    }
    case "extend":
      return {
        ...plain,
        terms: termsOf(
          outcome,
          settlement.lease === undefined
            ? undefined
            : milliseconds(settlement.lease, `${at}.lease`, { min: 1 }),
        ),
        text: settlement.progress === undefined ? "" : encodeProgress(settlement.progress, `${at}.progress`),
      };
    default:
      throw invalidArgument(`${at}.outcome`, "must be complete, reject, requeue or extend");
  }
}
