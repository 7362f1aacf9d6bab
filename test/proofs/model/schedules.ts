/** Schedules by interval: the tasks that they enqueue, each once, and what is shown of them. */
import type { ListedSchedule } from "../../../src/index.ts";
import { makeReady, newEnds, putInLine } from "./transitions.ts";
import { placesLeft } from "./limits.ts";
import { newTask, report, type ModelTask, type QueueState } from "./state.ts";

/** Later than any instant: the next occurrence of a paused or ended schedule. */
const NEVER = 8_640_000_000_000_001;
const LAST_INSTANT = NEVER - 1;

/** Most schedules, and most occurrences of them all, that one call enqueues. */
const MOST_SCHEDULES = 50;
const MOST_OCCURRENCES = 200;

/** Most occurrences that a resume counts. */
const MOST_SKIPPED = 100;

/** The fields of a new schedule; times in ms. */
export interface ModelNewSchedule {
  readonly every: number;
  readonly from?: number | undefined;
  readonly until?: number | undefined;
  readonly missed?: "last" | "all" | undefined;
  readonly paused?: boolean | undefined;
  readonly payload: unknown;
  readonly maxAttempts?: number | undefined;
}

export interface ModelSchedule {
  every: number;
  from: number;
  until: number | undefined;
  missed: "last" | "all";
  pausedAt: number | undefined;
  createdAt: number;
  lastAt: number | undefined;
  /** Its next occurrence. */
  next: number;
  payload: unknown;
  maxAttempts: number | undefined;
}

type Rhythm = Pick<ModelSchedule, "every" | "from" | "until">;

/** The first occurrence from an instant on. */
function firstFrom({ every, from, until = LAST_INSTANT }: Rhythm, instant: number): number {
  const first = from + Math.max(0, Math.ceil((instant - from) / every)) * every;
  return first <= until ? first : NEVER;
}

const lastUntil = ({ every, from, until = LAST_INSTANT }: Rhythm, instant: number) =>
  from + Math.floor((Math.min(instant, until) - from) / every) * every;

const nextOf = (plan: ModelSchedule, now: number) => firstFrom(plan, Math.max(now, (plan.lastAt ?? -1) + 1));

export const listed = (queue: string, name: string, plan: ModelSchedule): ListedSchedule => ({
  name,
  queue,
  every: plan.every,
  from: plan.from,
  ...(plan.until !== undefined && { until: plan.until }),
  missed: plan.missed,
  paused: plan.pausedAt !== undefined,
  ...(plan.pausedAt !== undefined && { pausedAt: plan.pausedAt }),
  createdAt: plan.createdAt,
  nextAt: plan.next === NEVER ? null : plan.next,
  lastAt: plan.lastAt ?? null,
});

/** The schedule after a put; undefined if it would never occur. */
export function drafted(
  before: ModelSchedule | undefined,
  now: number,
  wanted: ModelNewSchedule,
): ModelSchedule | undefined {
  const { every, from, until, missed = "last", payload, maxAttempts } = wanted;
  const same = before?.every === every && (from === undefined || from === before.from);
  const plan: ModelSchedule = {
    every,
    from: same ? before.from : (from ?? now + every),
    until,
    missed,
    pausedAt: wanted.paused === false ? undefined : (before?.pausedAt ?? (wanted.paused ? now : undefined)),
    createdAt: before?.createdAt ?? now,
    lastAt: before?.lastAt,
    next: NEVER,
    payload,
    maxAttempts,
  };
  const kept = same && before.next <= (until ?? LAST_INSTANT);
  const next = kept ? before.next : nextOf(plan, now);
  if (next === NEVER && !same) return undefined;
  return { ...plan, next: plan.pausedAt !== undefined ? NEVER : next };
}

/** How many occurrences the pause of a schedule has skipped, as a resume counts them. */
export function skippedBy(before: ModelSchedule, now: number): number {
  let count = 0;
  let next = nextOf(before, before.pausedAt ?? now);
  for (; next < now && count < MOST_SKIPPED; next = firstFrom(before, next + 1)) count++;
  return count;
}

/** The schedule after a pause or resume. */
export function switched(before: ModelSchedule, now: number, paused: boolean): ModelSchedule {
  if ((before.pausedAt !== undefined) === paused) return before;
  const plan = { ...before, pausedAt: paused ? now : undefined };
  return { ...plan, next: paused ? NEVER : nextOf(plan, now) };
}

/**
 * Enqueues the due occurrences, as one sweep does, or as many as may be pending.
 * @returns the number of new tasks, whether any schedule was due, and whether something did not fit
 */
export function occur(
  queue: QueueState,
  now: number,
  limit: number,
): { scheduled: number; due: boolean; full: boolean } {
  const total = { scheduled: 0, due: false, full: false };
  while (!total.full) {
    const due = [...queue.schedules]
      .filter(([, { next }]) => next <= now)
      .toSorted(([a, x], [b, y]) => x.next - y.next || (a < b ? -1 : 1))
      .slice(0, Math.min(limit, MOST_SCHEDULES));
    if (due.length === 0) break;
    total.due = true;
    const most = Math.max(1, Math.floor(Math.min(limit, MOST_OCCURRENCES) / due.length));
    const added: ModelTask[] = [];
    const room = placesLeft(queue);
    for (const [name, schedule] of due) {
      const { times, following } = dueTimes(schedule, now, most);
      // A known task with that id is this occurrence.
      const isKnown = (time: number) => queue.tasks.has(`${name}.${time}`);
      for (const [i, time] of times.entries()) {
        if (!isKnown(time) && added.length >= room) {
          total.full = true;
          break;
        }
        if (!isKnown(time)) added.push(occurrence(queue, now, name, schedule, time));
        schedule.lastAt = time;
        schedule.next = times[i + 1] ?? following;
      }
    }
    const ends = newEnds();
    for (const task of added) makeReady(queue, task, ends, "back");
    putInLine(queue, ends);
    report(queue, "enqueued", now, added.length);
    total.scheduled += added.length;
  }
  return total;
}

function dueTimes(schedule: ModelSchedule, now: number, most: number) {
  if (schedule.missed === "last") {
    const last = Math.max(schedule.next, lastUntil(schedule, now));
    return { times: [last], following: firstFrom(schedule, now + 1) };
  }
  const times = [schedule.next];
  let next = firstFrom(schedule, schedule.next + 1);
  for (; next <= now && times.length < most; next = firstFrom(schedule, next + 1)) times.push(next);
  return { times, following: next };
}

function occurrence(
  queue: QueueState,
  now: number,
  name: string,
  { payload, maxAttempts }: ModelSchedule,
  time: number,
): ModelTask {
  const task = newTask({
    id: `${name}.${time}`,
    payload,
    headers: { schedule: name, "scheduled-at": String(time) },
    producer: "",
    enqueuedAt: now,
    fixedLease: undefined,
    maxAttempts: maxAttempts ?? 10,
    uniqueFor: 0,
    resultTtl: 3_600_000,
    deadTtl: 604_800_000,
    group: undefined,
    priority: undefined,
    version: 1,
    ghosts: 0,
  });
  queue.tasks.set(task.id, task);
  return task;
}
