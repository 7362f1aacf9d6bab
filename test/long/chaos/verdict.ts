import type { Causes } from "./causes.ts";
import type { Evidence } from "./evidence.ts";
import { type History, isOfFlow, type TaskHistory, taskKey } from "./history.ts";
import { QUEUES } from "./work.ts";

/** What happened to all tasks, counted. */
export interface Tally {
  tasks: number;
  completed: number;
  deadLetters: number;
  cancelled: number;
  /** Acknowledged, and not ended. */
  lost: number;
  deliveries: number;
  extraDeliveries: Record<string, number>;
  /** Settlements and extends that were refused with `lease_lost`. */
  staleRefused: number;
}

export interface Judgement {
  readonly tally: Tally;
  /** What was wrong; empty if nothing was. */
  readonly violations: string[];
}

/** The occurrence of a schedule that a task is of, without what its id has of its slot. */
const occurrenceOf = (id: string) => id.replace(/\{\d+\}$/, "");

const ENDS = new Set(["completed", "rejected"]);

/**
 * Compares the answers that the processes got with what Redis has written.
 * @param ticks the occurrences that the schedules had to enqueue, each once
 */
export function judge(
  { tasks, faults }: History,
  evidence: Evidence,
  causes: Causes,
  ticks: ReadonlySet<string>,
): Judgement {
  const violations = [...evidence.broken, ...faults];
  const tally: Tally = {
    tasks: tasks.size,
    completed: 0,
    deadLetters: 0,
    cancelled: 0,
    lost: 0,
    deliveries: 0,
    extraDeliveries: {},
    staleRefused: 0,
  };
  for (const task of tasks.values()) violations.push(...ofTask(task, evidence, causes, ticks, tally));
  const written = new Set([...tasks.values()].map(({ queue, id }) => taskKey(queue, occurrenceOf(id))));
  const missing = [
    ...[...evidence.enqueued.keys()].filter((key) => !tasks.has(key)),
    ...[...ticks].map((id) => taskKey(QUEUES.ticks, id)).filter((key) => !written.has(key)),
  ];
  tally.lost += missing.length;
  violations.push(...missing.map((key) => `lost: ${key} was acknowledged, and Redis never wrote it`));
  violations.push(...ofMarks(tasks, evidence), ...ofDeliveries(tasks, evidence));
  violations.push(...ofSettlements(tasks, evidence, tally));
  return { tally, violations };
}

/** Checks how a task ended, and why it took more than one delivery. */
function ofTask(
  task: TaskHistory,
  evidence: Evidence,
  causes: Causes,
  ticks: ReadonlySet<string>,
  tally: Tally,
): string[] {
  const found: string[] = [];
  const { state, reason, charged, maxAttempts, leases } = task;
  const key = taskKey(task.queue, task.id);
  if (state === "completed") {
    tally.completed++;
    const result = JSON.stringify({ lease: leases.at(-1)?.number });
    if (task.result !== `j${result}`) found.push(`${key} has the result ${task.result}, not ${result}`);
  } else if (reason === "cancelled") {
    tally.cancelled++;
    // Of those of flows, the verdict on flows says whether it is true.
    if (!isOfFlow(task.id) && !evidence.cancels.has(key))
      found.push(`${key} was cancelled, but no process asked for it`);
  } else if (state === "rejected") {
    tally.deadLetters++;
    if (reason !== "rejected" && reason !== "dependency_failed" && charged !== maxAttempts)
      found.push(`${key} is rejected as ${reason} after ${charged} of ${maxAttempts} attempts`);
  } else {
    if (evidence.enqueued.has(key) || ticks.has(occurrenceOf(task.id))) tally.lost++;
    found.push(`lost: ${key} is ${state} in the end`);
  }
  tally.deliveries += leases.length;
  for (const lease of leases.slice(0, -1)) {
    const cause = causes.of(task, lease);
    if (cause === undefined)
      found.push(`nothing explains why ${key} was delivered again after ${JSON.stringify(lease)}`);
    const name = cause ?? "unexplained";
    tally.extraDeliveries[name] = (tally.extraDeliveries[name] ?? 0) + 1;
  }
  const isTick = task.queue === QUEUES.ticks;
  const known = isTick ? ticks.has(occurrenceOf(task.id)) : evidence.marks.has(task.mark ?? "");
  if (!known) found.push(`${key} was enqueued, but no process asked for it`);
  return found;
}

/**
 * Each enqueue, and each occurrence of a schedule, made one task at most. Of all enqueues of an id one had the answer
 * `created`.
 */
function ofMarks(tasks: History["tasks"], evidence: Evidence): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  for (const { mark, queue, id } of tasks.values()) {
    const made = queue === QUEUES.ticks ? occurrenceOf(id) : mark;
    if (made === undefined) continue;
    if (seen.has(made)) found.push(`${queue} ${id} is a second task of ${made}`);
    seen.add(made);
  }
  for (const [key, creators] of evidence.enqueued) {
    const mark = tasks.get(key)?.mark;
    const wrong = creators.filter((creator) => creator !== mark);
    if (wrong.length > 0) found.push(`${wrong.join()} created ${key}, but ${mark} did`);
  }
  return found;
}

/** Redis had leased each task that a process received. */
function ofDeliveries(tasks: History["tasks"], { deliveries }: Evidence): string[] {
  const found: string[] = [];
  const holders = new Map<string, string>();
  for (const { key, lease, attempt, token, by } of deliveries) {
    const given = tasks.get(key)?.leases.find(({ number }) => number === lease);
    if (given?.attempt !== attempt || given.token !== token)
      found.push(`${by} was given ${key} under lease ${lease}, which Redis never wrote`);
    const holder = holders.get(`${key} ${lease}`);
    if (holder !== undefined && holder !== by)
      found.push(`${by} and ${holder} were given one lease of ${key}`);
    holders.set(`${key} ${lease}`, by);
  }
  return found;
}

/** Only the holder of the current lease settles, and every answer is what Redis wrote. */
function ofSettlements(tasks: History["tasks"], evidence: Evidence, tally: Tally): string[] {
  const found: string[] = [];
  const later = new Map<string, { readonly lease: number; readonly at: number }[]>();
  for (const { key, lease, at } of evidence.deliveries) {
    const list = later.get(key) ?? [];
    list.push({ lease, at });
    later.set(key, list);
  }
  const ends = new Map<string, number>();
  for (const { key, lease, outcome, by, at, reported } of evidence.asked.values()) {
    tally.staleRefused += reported.filter((said) => said === "!lease_lost").length;
    if (outcome === "extend") continue;
    const of = `${by}'s ${outcome} of ${key} under lease ${lease}`;
    const given = tasks.get(key)?.leases.find(({ number }) => number === lease);
    const done = typeof given?.end === "object" && given.end.outcome === outcome ? given.end : undefined;
    for (const said of reported.filter((answer) => !answer.startsWith("!"))) {
      if (done?.state !== said)
        found.push(`${of} was answered ${said}, and Redis wrote ${JSON.stringify(given?.end)}`);
      if (later.get(key)?.some((one) => one.lease > lease && one.at < at))
        found.push(`${of} was accepted after a later lease was delivered`);
      // A task of a flow may be redriven: the verdict on flows says whether it was.
      const mayEndAgain = (tasks.get(key)?.ends.length ?? 0) > 1;
      if (ENDS.has(said) && (ends.get(key) ?? lease) !== lease && !mayEndAgain)
        found.push(`${of} ended it a second time`);
      if (ENDS.has(said)) ends.set(key, lease);
    }
    // A requeue that was done may be answered so until the task is settled under a later lease.
    if (done && ENDS.has(done.state) && reported.some((answer) => answer.startsWith("!")))
      found.push(`${of} was refused, and Redis wrote ${JSON.stringify(done)}`);
  }
  const given = new Set(evidence.deliveries.map(({ key, lease }) => `${key} ${lease}`));
  for (const [key, { leases }] of tasks) {
    for (const { number, end } of leases) {
      if (typeof end !== "object" || evidence.asked.has(`${key} ${number} ${end.outcome}`)) continue;
      // What an aborted dequeue has leased goes back without a word of its caller.
      if (end.outcome !== "unstarted" || given.has(`${key} ${number}`))
        found.push(`no process asked for the ${end.outcome} of ${key} under lease ${number}`);
    }
  }
  return found;
}
