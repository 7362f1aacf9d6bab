import { SluiceError } from "../errors.ts";
import { checkedTarget, type UrlPolicy } from "../features/push/index.ts";
import { pick } from "../pick.ts";
import { badRequest } from "./failure.ts";
import type { QStashOptions } from "./options.ts";

/** Which URLs messages may go to. */
export const policyOf = (settings: QStashOptions): UrlPolicy => pick(settings, ["allow", "allowPrivate"]);

/**
 * Checks that messages may go to a URL.
 * @throws {Failure} 400
 */
export function checkTarget(url: string, settings: QStashOptions): void {
  try {
    checkedTarget(url, policyOf(settings), "the destination");
  } catch (error) {
    throw error instanceof SluiceError ? badRequest(error.message) : error;
  }
}
