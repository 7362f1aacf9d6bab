import type { AttemptError, TaskInfo } from "../record/task-info.ts";
import type { RejectReason } from "../options/types.ts";

/**
 * Why a task was rejected, as a person reads it. The command line and the dashboard show the text of a task
 * without an error of its own, and the filter `text` finds it.
 */
export const reasonTexts: Readonly<Record<RejectReason, string>> = {
  rejected: "its consumer rejected it for good",
  attempts_exhausted: "its attempts are used up",
  lease_expired: "the lease expired: crashed, hung, or too slow",
  taken_back: "an operator took it back from its worker",
  cancelled: "it was cancelled",
  dependency_failed: "a task that it waited for did not complete",
};

/** The reasons with a text that contains the given text. */
export function reasonsWith(text: string): RejectReason[] {
  const reasons = Object.keys(reasonTexts) as RejectReason[];
  return reasons.filter((reason) => reasonTexts[reason].includes(text));
}

/** The text of an attempt without an error. */
export const lostText = ({ takenBack }: Pick<AttemptError, "takenBack">): string =>
  reasonTexts[takenBack ? "taken_back" : "lease_expired"];

/**
 * The text that is shown in place of a task's error: that of its reason if no error is stored, and that of
 * `lease_expired` or `taken_back` if its last failed attempt lost its lease, because an error is then of an earlier
 * attempt.
 * The filter `text` finds it: `shown_reason` in `lua/operate/pages.lua` follows the same rule.
 * @returns undefined if the stored error is shown, or there is nothing to show
 */
export function shownReason({
  state,
  reason,
  errors,
  error,
}: Pick<TaskInfo, "state" | "reason" | "errors" | "error">): string | undefined {
  const last = errors.at(-1);
  if (reason === undefined) return state !== "completed" && last?.error === null ? lostText(last) : undefined;
  const isLost = reason === "lease_expired" || reason === "taken_back";
  return isLost || error === undefined ? reasonTexts[reason] : undefined;
}
