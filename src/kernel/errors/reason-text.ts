import type { TaskInfo } from "../record/task-info.ts";
import type { RejectReason } from "../options/types.ts";

/**
 * Why a task was rejected, as a person reads it. The command line and the dashboard show the text of a task
 * without an error of its own, and the filter `text` finds it.
 */
export const reasonTexts: Readonly<Record<RejectReason, string>> = {
  rejected: "its consumer rejected it for good",
  attempts_exhausted: "its attempts are used up",
  lease_expired: "the lease expired: crashed, hung, or too slow",
  cancelled: "it was cancelled",
};

/** The reasons with a text that contains the given text. */
export function reasonsWith(text: string): RejectReason[] {
  const reasons = Object.keys(reasonTexts) as RejectReason[];
  return reasons.filter((reason) => reasonTexts[reason].includes(text));
}

/**
 * The text that is shown in place of a task's error: that of its reason if no error is stored, and that of
 * `lease_expired` if its last failed attempt lost its lease, because an error is then of an earlier attempt.
 * The filter `text` finds it: `shown_reason` in `lua/operate/pages.lua` follows the same rule.
 * @returns undefined if the stored error is shown, or there is nothing to show
 */
export function shownReason({
  state,
  reason,
  errors,
  error,
}: Pick<TaskInfo, "state" | "reason" | "errors" | "error">): string | undefined {
  const isExpired = reason === undefined && state !== "completed" && errors.at(-1)?.error === null;
  const shown = isExpired ? "lease_expired" : reason;
  return shown && (shown === "lease_expired" || error === undefined) ? reasonTexts[shown] : undefined;
}
