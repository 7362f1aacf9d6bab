/** Why a queue is stuck: no task ends, a limit holds tasks back, or no consumer takes any. */
import { shellQuoted } from "../../shell-quoted.ts";
import { span } from "../../kernel/options/span.ts";
import type { QueueCode } from "./codes.ts";
import type { QueueFacts } from "./facts.ts";
import { ago } from "./finding.ts";
import { quoted } from "./quoted-error.ts";
import { found, type QueueFinding } from "./queue-finding.ts";

/** What is due longer than this was not swept, ms. A minute is the interval of cron. */
export const OVERDUE = 180_000;

/** Whether a sweep should have run. */
export const isOverdue = ({ now, nextDueAt }: QueueFacts) => nextDueAt !== null && now - nextDueAt > OVERDUE;

/**
 * Finds why a queue is stuck: the first cause, because others follow from it.
 * @param after how long it may be stuck, ms
 */
export function stuck(facts: QueueFacts, after: number): QueueFinding | undefined {
  return nothingEnds(facts, after) ?? (isWaiting(facts, after) ? notTaken(facts, after) : undefined);
}

/** Whether a task that a consumer may take has waited for too long. */
export function isWaiting({ pending, limited, oldestAge, paused }: QueueFacts, after: number): boolean {
  return !paused && pending > limited && (oldestAge ?? 0) > after;
}

const waitOf = ({ pending, oldestAge }: QueueFacts) =>
  `${pending} pending, the next enqueued ${ago(oldestAge ?? 0)}`;

/** Tasks are extended on and on, and none ends. Leases that are not extended are for the sweep. */
function nothingEnds(facts: QueueFacts, after: number): QueueFinding | undefined {
  const { queue, now, working, work, lastEndedAt, lastTakenAt } = facts;
  const patience = Math.max(after, work.lease);
  if (working === 0 || work.since === null || isOverdue(facts)) return undefined;
  const longest = now - work.since;
  const still = now - (lastEndedAt ?? lastTakenAt ?? 0);
  if (Math.min(longest, still) <= patience) return undefined;
  const waits = isWaiting(facts, after);
  const text = `${working} working, the longest for ${span(longest)}`;
  if (lastEndedAt === undefined && lastTakenAt === undefined) {
    if (!waits) return undefined;
    return unknown("nothing_ends", queue, `${text}; whether others end`);
  }
  const { worker } = work;
  const remedy =
    worker === undefined
      ? "Restart its process"
      : `Restart its process, ${worker}, or take its tasks back, which are then tried one at a time, each alone (sluice workers ${queue} --fail ${shellQuoted(worker)})`;
  const { workingError } = facts.attempts;
  const earlier = workingError ? `; an earlier attempt failed: ${quoted(workingError)}` : "";
  const what = lastEndedAt === undefined ? "was taken" : "has ended";
  return found(
    waits ? "problem" : "warning",
    "nothing_ends",
    queue,
    `${text}, and nothing ${what} for ${span(Math.min(longest, still))}${earlier}`,
    `a handler hangs, perhaps because what it calls does not answer: sluice ls ${queue} --state working. ${remedy}, and give the consumer a timeout`,
  );
}

/** A finding that statistics would make. */
function unknown(code: QueueCode, queue: string, what: string): QueueFinding {
  const advice = `sluice settings ${queue} statistics=on`;
  return found("unknown", code, queue, `${what} is not known without statistics`, advice);
}

function notTaken(facts: QueueFacts, after: number): QueueFinding | undefined {
  const { queue, now, working, settings, lastTakenAt, workerSeenAt } = facts;
  if (settings.maxWorking !== null && working >= settings.maxWorking) {
    const text = `${waitOf(facts)}, and ${working} working are its maxWorking`;
    const advice = `raise the limit, if it is not meant: sluice settings ${queue} maxWorking=…`;
    return found("warning", "queue_at_limit", queue, text, advice);
  }
  const patience = Math.max(after, settings.rate?.per ?? 0);
  if (lastTakenAt !== undefined && now - lastTakenAt <= patience) return undefined;
  // The last delivery is known only while its task is working. If none is working, some time has passed.
  if (lastTakenAt === undefined && working > 0)
    return unknown("nothing_taken", queue, `${waitOf(facts)}, and ${working} working; whether any is taken`);
  const isSeen = workerSeenAt !== null && now - workerSeenAt <= after;
  if (isSeen || working > 0) {
    const but = isSeen
      ? `a worker was seen ${ago(now - workerSeenAt)}`
      : `${working} ${working === 1 ? "is" : "are"} working`;
    const text = `${waitOf(facts)}, and none is taken, but ${but}`;
    const { worker } = facts.work;
    const which = worker === undefined ? "" : ` ${worker}`;
    const advice = `restart the consumer${which}; its log may say what holds it up`;
    return found("problem", "nothing_taken", queue, text, advice);
  }
  const seen = workerSeenAt === null ? "" : `; a worker was last seen ${ago(now - workerSeenAt)}`;
  const advice = "is a consumer deployed, and does cron or a wake start it? Look at the platform's log";
  return found("problem", "no_consumer", queue, `${waitOf(facts)}, and no consumer works${seen}`, advice);
}
