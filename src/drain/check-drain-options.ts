import { checkedAt } from "../errors.ts";
import { checkBackoff } from "../kernel/options/backoff.ts";
import { checkedOptions } from "./drain-options.ts";
import { checkedBudget } from "./request-share.ts";
import type { DrainOptions } from "./types.ts";

const ANY_DEFAULTS = { concurrency: 1, batch: undefined, wholeBatches: false };

/**
 * Checks a drain's options before it begins.
 * @param at prefix of the option names in errors, such as `consumers.emails.`
 * @throws {SluiceError} `invalid_argument`
 */
export function checkDrainOptions(options: DrainOptions, at: string): void {
  checkedAt(at, () => {
    const { backoff, requests, requestsPerTask } = checkedOptions(options, ANY_DEFAULTS);
    checkBackoff(backoff);
    if (requests !== undefined) checkedBudget(requests, requestsPerTask);
  });
}
