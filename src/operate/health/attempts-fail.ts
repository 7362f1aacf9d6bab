/** Attempts that fail one like the other, because what the handler calls hangs or is down. */
import { span } from "../../kernel/options/span.ts";
import type { ErrorSummary } from "../../kernel/errors/error-summary.ts";
import { shellQuoted } from "../../shell-quoted.ts";
import type { QueueFacts } from "./facts.ts";
import { ago } from "./finding.ts";
import { found, type QueueFinding } from "./queue-finding.ts";
import { quoted } from "./quoted-error.ts";
import { isWaiting } from "./stuck.ts";

/** Fewer tasks that fail say more about these tasks than about what the handler calls. */
const FEW = 2;

/** So many pending tasks may all have been looked at. */
const LOOKED_AT = 40;

const QUESTION = "is what the handler calls up, and does it answer?";

/** Attempts that have failed for a shorter time are not reported, ms. */
const TRANSIENT = 60_000;

/** @param after for how long none may be completed, ms */
export function attemptsFail(facts: QueueFacts, after: number): QueueFinding | undefined {
  const { queue, now, attempts, completedAt, isCompletionKnown } = facts;
  const { lastAt, id, error } = attempts;
  const failing = mostFail(facts);
  if (!failing || completedAt > lastAt || now - completedAt <= after) return undefined;
  const lasts = now - failing.since;
  if (lasts < Math.min(after, TRANSIENT)) return undefined;
  const none = isCompletionKnown ? "none was completed" : "none is known to be completed";
  const last = lastAt > 0 ? `, the last ${ago(now - lastAt)}` : "";
  const text = `${failing.what}, the first ${ago(lasts)}${last}, and ${none} within ${span(after)}`;
  const commands = [
    error && `sluice ls ${queue} --text ${shellQuoted(searched(error))}`,
    id === "" ? undefined : `sluice show ${queue} ${shellQuoted(id)}`,
    facts.paused ? undefined : `until it is: sluice pause ${queue}`,
  ].filter(Boolean);
  return found(
    isWaiting(facts, after) || lasts > after ? "problem" : "warning",
    "attempts_fail",
    queue,
    text,
    // The error is here, because alerts have no advice, and no error of a task.
    [error && `the last one with ${quoted(error)}:`, QUESTION, commands.join("; ")].filter(Boolean).join(" "),
    id === "" ? [] : [id],
  );
}

/** What fails, and since when, if it is most; by the tasks themselves, or by the statistics. */
function mostFail({ attempts, requeued, isCompletionKnown, pending }: QueueFacts) {
  const { tried, failed, since } = attempts;
  if (failed >= FEW && failed * 2 >= tried)
    return { what: `of ${tried} tasks looked at, ${failed} failed their last attempt`, since };
  // Those that failed wait in the middle of many others.
  const isHidden = isCompletionKnown && requeued.attempts >= FEW && pending > LOOKED_AT;
  return isHidden ? { what: `${requeued.attempts} attempts failed`, since: requeued.since } : undefined;
}

/** The part of an error by which its tasks are found: the text of a record has quotes and line ends escaped. */
function searched({ message, name = "Error" }: ErrorSummary): string {
  const [start = ""] = /^[^"\\\p{Cc}]{0,40}/u.exec(message) ?? [];
  return start.trim() || name;
}
