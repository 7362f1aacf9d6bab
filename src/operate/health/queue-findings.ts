import { counted } from "../../counted.ts";
import { span } from "../../kernel/options/span.ts";
import { shellQuoted } from "../../shell-quoted.ts";
import { attemptsFail } from "./attempts-fail.ts";
import { occurrencesCounted } from "../../features/schedules/index.ts";
import { isLimited } from "../groups.ts";
import type { GroupAtLimit, QueueFacts } from "./facts.ts";
import { leasesExpire, workersLost } from "./lost-leases.ts";
import { ago } from "./finding.ts";
import { found, type QueueFinding } from "./queue-finding.ts";
import { isOverdue, stuck } from "./stuck.ts";

/** So many new dead letters are a problem. */
const MANY_DEAD_LETTERS = 10;

/** Looks at one thing. @param after how long a queue may be stuck, ms */
type Check = (facts: QueueFacts, after: number) => QueueFinding | undefined;

const broken: Check = ({ queue, broken: count }) => {
  if (count === 0) return undefined;
  const text = `${counted(count, "broken entry", "broken entries")} set aside`;
  return found("problem", "broken_entries", queue, text, `sluice sweep --deep --queue ${queue}`);
};

const isPaused: Check = ({ queue, now, paused, pausedUntil, pending }) => {
  const text = `paused${stillFor(pausedUntil, now)}, with ${pending} pending`;
  return paused ? found("warning", "paused", queue, text, `sluice resume ${queue}`) : undefined;
};

/** How long a pause that ends lasts. */
const stillFor = (until: number | null, now: number) =>
  until === null ? "" : ` for another ${span(until - now)}`;

const groupsHeld: Check = ({ queue, now, groups }, after) => {
  const late = groups.filter((one) => one.paused || (isLimited(one) && now - one.oldestAt > after));
  const [first] = late;
  if (!first) return undefined;
  const { group, limited, paused, pausedUntil, maxWorking, oldestAt } = first;
  const others = late.length > 1 ? "; other groups wait too" : "";
  const waits = `the next enqueued ${ago(now - oldestAt)}${others}`;
  const setting = paused ? "paused" : maxWorking === null ? "rate" : "maxWorking";
  const command = `sluice settings ${queue} --group ${shellQuoted(group)} ${setting}=`;
  const names = late.map((one) => one.group);
  if (paused) {
    const text = `${limited} of group ${group} wait, because it is paused${stillFor(pausedUntil, now)}, ${waits}`;
    return found("warning", "group_paused", queue, text, `${command}off`, names);
  }
  const text = `${limited} of group ${group} wait for its ${setting} ${limitOf(first)}, ${waits}`;
  return found(
    "warning",
    "group_at_limit",
    queue,
    text,
    `raise the limit, if it is not meant: ${command}…`,
    names,
  );
};

const limitOf = ({ maxWorking, rate }: GroupAtLimit) =>
  maxWorking ?? (rate ? `${rate.most} per ${span(rate.per)}` : "");

const groupsStopped: Check = ({ queue, stoppedGroups: count }) => {
  if (count === 0) return undefined;
  const text = `${count === 1 ? "1 group is" : `${count} groups are`} stopped, by a dead letter each`;
  return found("problem", "groups_stopped", queue, text, `sluice groups ${queue} --stopped`);
};

const notSwept: Check = (facts) => {
  if (!isOverdue(facts)) return undefined;
  const { queue, now, nextDueAt } = facts;
  const text = `tasks or leases are overdue for ${span(now - (nextDueAt ?? now))}`;
  const advice = "cron does not sweep. To sweep once by hand: sluice sweep";
  return found("problem", "not_swept", queue, text, advice);
};

const scheduleFailing: Check = ({ queue, now, pending, settings, lateSchedules: { count, first: late } }) => {
  const [first] = late;
  if (!first) return undefined;
  const due = `was due ${ago(now - first.at)}, and has not occurred`;
  const text =
    count === 1 ? `schedule ${first.name} ${due}` : `${count} schedules are late; ${first.name} ${due}`;
  const { maxPending } = settings;
  const advice =
    maxPending !== null && pending >= maxPending
      ? `the queue has its maxPending of ${maxPending}: let the consumers catch up, or raise it`
      : "cron does not sweep, or the queue or Redis is full. To sweep once by hand: sluice sweep";
  return found(
    "problem",
    "schedule_failing",
    queue,
    text,
    advice,
    late.map(({ name }) => name),
  );
};

const schedulePaused: Check = ({ queue, now, pausedSchedules: paused }) => {
  const [first] = paused;
  if (!first) return undefined;
  const lasts = ({ at, skipped: { count, lastAt } }: typeof first) => {
    const missed = count > 0 ? ` (${occurrencesCounted(count)} missed, the last ${ago(now - lastAt)})` : "";
    return `for ${span(now - at)}${missed}`;
  };
  const text =
    paused.length === 1
      ? `schedule ${first.name} has been paused ${lasts(first)}`
      : `paused schedules: ${paused.map((one) => `${one.name} ${lasts(one)}`).join(", ")}`;
  const command = `sluice schedules ${queue}`;
  const late = paused.find(({ skipped }) => skipped.count > 0);
  const run = late ? `; what was missed is not made up: ${command} --run ${shellQuoted(late.name)}` : "";
  const advice = `${command} --resume ${shellQuoted(first.name)}${run}`;
  const names = paused.map(({ name }) => name);
  return found("warning", "schedule_paused", queue, text, advice, names);
};

const deadLetters: Check = ({ queue, now, rejected, newDeadLetters }) => {
  const { count, firstAt, lastAt } = newDeadLetters;
  const advice = `sluice dead ${queue}`;
  const all = counted(rejected, "dead letter");
  if (count === 0) return rejected === 0 ? undefined : found("warning", "dead_letters", queue, all, advice);
  const status = count < MANY_DEAD_LETTERS ? "warning" : "problem";
  const [first, last] = [ago(now - firstAt), ago(now - lastAt)];
  const areAllNew = count >= rejected;
  const fresh = areAllNew ? (count === 1 ? "" : ", all new") : `, ${count} of them new`;
  const of = areAllNew ? "" : "of these ";
  const when = first === last ? `, ${last}` : `: the first ${of}${first}, the last ${last}`;
  const text = `${all}${fresh}${when}`;
  return found(status, "dead_letters_rising", queue, text, advice);
};

const checks: readonly Check[] = [
  broken,
  isPaused,
  stuck,
  attemptsFail,
  workersLost,
  leasesExpire,
  groupsHeld,
  groupsStopped,
  notSwept,
  scheduleFailing,
  schedulePaused,
  deadLetters,
];

/** Says what is wrong with a queue, and what to do. @param after how long it may be stuck, ms */
export function queueFindings(facts: QueueFacts, after: number): QueueFinding[] {
  return checks.flatMap((check) => check(facts, after) ?? []);
}

/** A queue that could not be read. @param code of the error */
export function unreadable(queue: string, code: string): QueueFinding {
  return found(
    "problem",
    "unreadable",
    queue,
    `it cannot be read: ${code}`,
    `sluice stats ${queue} says why`,
  );
}
