/**
 * The queue as lua/README.md describes it, without Redis: places and records as plain values, time as an
 * argument. It is the reference that the model-based test compares the scripts with, so it shares no code
 * with them.
 */
import { type ModelPause, RUNNING } from "./pauses.ts";
import type { ModelKey } from "./keys/key.ts";
import type { ModelSchedule } from "./schedules.ts";
import type {
  FixedOptions,
  AttemptError,
  DeadLetter,
  RejectReason,
  TaskInfo,
  TaskState,
  Transition,
} from "../../../src/index.ts";

export const RESEND_WINDOW = 300_000;
const HISTORY = 16;
const ERRORS = 16;

/** The five states, a deleted record, and an id of which only ghosts are left. */
export type ModelState = TaskState | "removed" | "ghost";

/** How one settlement was answered, for a resend of it. */
export interface Settlement {
  readonly state: TaskState;
  readonly reason: RejectReason | undefined;
  /** When it is due again; 0 if there is no such time. */
  readonly due: number;
  readonly flagged: boolean;
}

export interface ModelTask {
  readonly id: string;
  readonly payload: unknown;
  /** How many payloads it has, if it is a list of those of several enqueues. */
  payloads?: number | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** The producer's token, which distinguishes its resend from another's task. */
  readonly producer: string;
  readonly enqueuedAt: number;
  /** The lease that the task fixed, ms. */
  readonly fixedLease: number | undefined;
  readonly maxAttempts: number;
  readonly resultTtl: number;
  readonly deadTtl: number;
  /** For how long from its enqueue on its id is known at least, ms. */
  readonly uniqueFor: number;
  readonly group: string | undefined;
  readonly priority: number | undefined;
  state: ModelState;
  reason?: RejectReason | undefined;
  /** Whether its payload is still there. */
  kept: boolean;
  version: number;
  attempt: number;
  charged: number;
  /** Number of the current or last lease. */
  lease: number;
  /** Lease token of the current lease. */
  token?: string | undefined;
  /** Of the current lease, ms. */
  leasedFor?: number | undefined;
  dequeuedAt?: number | undefined;
  /** How many leases expired since a holder last requeued it. */
  expired: number;
  requeuedAt?: number | undefined;
  requeues: number;
  /** Whether its holder handed it back unstarted: it may then keep its place in its group. */
  handedBack: boolean;
  endedAt?: number | undefined;
  flagged: boolean;
  /** Its entries in the line that are ghosts. */
  ghosts: number;
  worker?: string | undefined;
  progress?: unknown;
  /** Lease and key of the calls that reported progress, the newest last. */
  progressBy?: readonly string[] | undefined;
  history: Transition[];
  errors: AttemptError[];
  /** The last settlement: `<lease>,<token>,<outcome>`, and its answer. */
  settled?: { readonly receipt: string; readonly answer: Settlement } | undefined;
  /** The result, or the last error. */
  text?: unknown;
}

type FixedAtEnqueue =
  | "id"
  | "payload"
  | "headers"
  | "producer"
  | "enqueuedAt"
  | "fixedLease"
  | "maxAttempts"
  | "resultTtl"
  | "deadTtl"
  | "uniqueFor"
  | "group"
  | "priority";

/** A task at the beginning of a life. */
export function newTask(
  fixed: Pick<ModelTask, FixedAtEnqueue> & { readonly version: number; readonly ghosts: number },
): ModelTask {
  const untouched = { attempt: 0, charged: 0, lease: 0, expired: 0, requeues: 0, flagged: false };
  return { ...fixed, ...untouched, state: "pending", kept: true, handedBack: false, history: [], errors: [] };
}

export interface Rate {
  readonly most: number;
  readonly per: number;
}

export interface QueueLimits extends ModelPause {
  maxWorking: number | null;
  rate: Rate | null;
  maxPending: number | null;
  events: boolean;
  statistics: boolean;
  order: "strict" | null;
  onDead: "continue" | "stop";
}

/** Recent dequeues, by tenth of a rate's period. */
export type Used = Map<number, number>;

export interface ModelGroup extends ModelPause {
  weight: number;
  maxWorking: number | null;
  rate: Rate | null;
  used: Used;
  order: "strict" | "none" | null;
  onDead: "continue" | "stop" | null;
  /** Whether it ever had a limit: tasks behind a limit may come out of order. */
  limited: boolean;
  /**
   * Since when pulls have met counts ahead of a clock that was set back, -1 before the first. For one period
   * from then on the model cannot predict what the rate allows.
   */
  metAhead?: number | undefined;
}

/** The line of a group in strict order. */
export interface ModelLine {
  /** The task that is ready, works, waits for another attempt, or stops the group. */
  head: string | undefined;
  stopped: boolean;
  /** The next one first. */
  waiting: string[];
}

export interface ModelWorker {
  /** Undefined while it is being failed. */
  seenAt: number | undefined;
  silentAt: number;
  silentAfter: number | undefined;
  goneAfter: number | undefined;
}

/** A new dead letter, as a call reports it. */
export type ModelDeadLetter = Pick<DeadLetter, "id" | "reason" | "attempts">;

export class QueueState {
  /** Ids of pending tasks with neither group nor priority, the next one first; with ghosts. */
  line: string[] = [];
  /** Ids of pending tasks of a group or with a priority, in the order in which they came; also those in line. */
  grouped: string[] = [];
  /** id -> deadline */
  readonly working = new Map<string, number>();
  /** id -> due; half a millisecond marks grouped tasks, as in Redis: they come last of one time */
  readonly delayed = new Map<string, number>();
  /** id, `~d:<key>`, `~f:<worker>` or the field of a key -> when it is removed */
  readonly expiry = new Map<string, number>();
  /** id -> when it was rejected */
  readonly dead = new Map<string, number>();
  readonly tasks = new Map<string, ModelTask>();
  /** The last lease number used. */
  lease = 0;
  /** The dequeue that each slot remembers. */
  readonly slots = new Map<string, { readonly token: string; readonly ids: readonly string[] }>();
  settings: QueueLimits = {
    ...RUNNING,
    maxWorking: null,
    rate: null,
    maxPending: null,
    events: false,
    statistics: false,
    order: null,
    onDead: "continue",
  };
  used: Used = new Map();
  readonly groups = new Map<string, ModelGroup>();
  readonly lines = new Map<string, ModelLine>();
  readonly dedup = new Map<string, { readonly until: number; readonly id: string }>();
  /** By field. */
  readonly keys = new Map<string, ModelKey>();
  readonly workers = new Map<string, ModelWorker>();
  /** What the current call reports of new dead letters. */
  deadLetters: ModelDeadLetter[] = [];
  /** Workers from which tasks were taken, and when. */
  readonly lost = new Map<string, number>();
  /** The last ten of them, the last one first. */
  lastLost: string[] = [];
  /** When to check for silent workers. */
  alarm: number | undefined;
  wake: { readonly sent: number; readonly until: number; readonly window: number } | undefined;
  readonly schedules = new Map<string, ModelSchedule>();
  /** Events by minute since 1970; undefined before the first. */
  readonly minutes = new Map<number, Map<string, number>>();
  minute = 0;
  /** The same of all minutes. */
  readonly totals = new Map<string, number>();

  task(id: string): ModelTask {
    const task = this.tasks.get(id);
    if (!task) throw new Error(`the model knows no task ${id}`);
    return task;
  }

  get ghosts(): number {
    let count = 0;
    for (const task of this.tasks.values()) count += task.ghosts;
    return count;
  }
}

interface Sharing {
  readonly group?: string | undefined;
  readonly priority?: number | undefined;
}

/** Whether it waits in `fair` or `limited`, not in the list. */
export const isGrouped = (task: Sharing) => task.group !== undefined || (task.priority ?? 0) > 0;

/** A task's place in `delayed`. */
export const scoreWhenDue = (task: Sharing, due: number) => (isGrouped(task) ? due + 0.5 : due);

/** The members whose time has come, in order; of one time by name. */
export function dueBy(zset: ReadonlyMap<string, number>, until: number): string[] {
  return inOrder(zset).filter((member) => Math.floor(zset.get(member) as number) <= until);
}

/** The members in the order in which Redis has them. */
export function inOrder(zset: ReadonlyMap<string, number>): string[] {
  const byName = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return [...zset].toSorted(([a, x], [b, y]) => x - y || byName(a, b)).map(([member]) => member);
}

export function transition(task: ModelTask, to: Transition["to"], now: number): void {
  task.version++;
  // A clock that jumped back shows no negative ages.
  const at = task.enqueuedAt + Math.max(0, now - task.enqueuedAt);
  task.history = [...task.history, { version: task.version, to, at }].slice(-HISTORY);
}

/** Notes that an attempt failed. */
export function noteError(task: ModelTask, now: number, error: string | null, takenBack?: true): void {
  const at = task.enqueuedAt + Math.max(0, now - task.enqueuedAt);
  const ended = { attempt: task.attempt, at, error, ...(takenBack && { takenBack }) };
  task.errors = [...task.errors, ended].slice(-ERRORS);
}

/** Counts what happened to tasks, if the queue keeps statistics. */
export function report(queue: QueueState, event: string, now: number, count = 1): void {
  if (!queue.settings.statistics || count === 0) return;
  beginMinute(queue, now);
  const counts = queue.minutes.get(queue.minute) as Map<string, number>;
  counts.set(event, (counts.get(event) ?? 0) + count);
  queue.totals.set(event, (queue.totals.get(event) ?? 0) + count);
}

/** Begins the minute of an event, if the queue keeps statistics; also of one that no statistics have, such as progress. */
export function beginMinute(queue: QueueState, now: number): void {
  if (!queue.settings.statistics) return;
  const [last, minute] = [queue.minute, Math.floor(now / 60_000)];
  // If the clock was set back by up to an hour, the last minute goes on.
  if (last < minute || last > minute + 60) {
    // There is a place for one minute of each hour.
    for (const old of queue.minutes.keys()) {
      if (old !== last && old % 60 === last % 60) queue.minutes.delete(old);
    }
    queue.minute = minute;
    queue.minutes.set(minute, new Map());
  }
}

/** The answer of `get` for a task. */
export function infoOf(queue: QueueState, name: string, id: string): TaskInfo | null {
  const task = queue.tasks.get(id);
  if (!task || task.state === "removed" || task.state === "ghost") return null;
  const [workerName, incarnation] = (task.worker ?? "").split(" ");
  const ended = task.state === "completed" ? "result" : "error";
  const info: Partial<Record<keyof TaskInfo, unknown>> = {
    id,
    queue: name,
    state: task.state,
    ...(task.reason !== undefined && { reason: task.reason }),
    attempt: task.attempt,
    charged: task.charged,
    lease: task.lease,
    requeues: task.requeues,
    version: task.version,
    transitions: task.history,
    errors: task.errors,
    enqueuedAt: task.enqueuedAt,
    ...(task.state === "delayed" && { dueAt: Math.floor(queue.delayed.get(id) as number) }),
    ...(task.state === "working" && { deadlineAt: queue.working.get(id) }),
    ...(task.dequeuedAt !== undefined && { dequeuedAt: task.dequeuedAt }),
    ...(task.requeuedAt !== undefined && { requeuedAt: task.requeuedAt }),
    ...(task.endedAt !== undefined && { endedAt: task.endedAt }),
    ...(task.flagged && { cancelRequested: true as const }),
    ...(task.group !== undefined && { group: task.group }),
    ...(task.priority !== undefined && task.priority > 0 && { priority: task.priority }),
    ...(workerName && { worker: { name: workerName, ...(incarnation && { incarnation }) } }),
    ...(task.progress !== undefined && { progress: task.progress }),
    ...(task.kept && task.headers && { headers: task.headers }),
    ...(task.kept && optionsOf(task)),
    ...(task.text !== undefined && { [ended]: task.text }),
  };
  return info as TaskInfo;
}

/** The options that a task fixed, without those that have the default. */
function optionsOf(task: ModelTask): { readonly options?: FixedOptions } {
  const { fixedLease, maxAttempts, resultTtl, deadTtl, uniqueFor } = task;
  const options = {
    ...(fixedLease !== undefined && { lease: fixedLease }),
    ...(maxAttempts !== 10 && { maxAttempts }),
    ...(resultTtl !== 3_600_000 && { resultTtl }),
    ...(deadTtl !== 604_800_000 && { deadTtl }),
    ...(uniqueFor > 0 && { unique: uniqueFor }),
  };
  return Object.keys(options).length > 0 ? { options } : {};
}
