/** Enqueues that first look at a key, and may change an earlier task. */
import type { Debounce, KeyedOutcome, KeyOptions } from "../../../../src/features/debounce/types.ts";
import { begin, dueOf, known, type ModelNewTask } from "../enqueue.ts";
import { left, opens, placesLeft, recount, spend, tenthOf } from "../limits.ts";
import { follow } from "../lines.ts";
import { cancel } from "../operate.ts";
import { report, type ModelTask, type QueueState } from "../state.ts";
import { newEnds, putInLine, type Ends } from "../transitions.ts";
import { wakesOnEnqueue } from "../wake.ts";
import { change, dueOfTask, hasBegun, taskOf } from "./change.ts";
import {
  CALL_BYTES,
  CALL_BYTES_OF_LISTS,
  fieldOf,
  isReused,
  keyIn,
  recalled,
  remembering,
  storeKey,
  type ModelKey,
} from "./key.ts";

const DEBOUNCED_FOR = 3_600_000;
const SINGLE_FOR = 604_800_000;
/** Most payloads of a list. */
const MOST_PAYLOADS = 1_000;

export interface KeyedCall {
  /** The call's idempotency key, or a name of its own. */
  readonly producer: string;
  /** The same with what the call asks for. */
  readonly token: string;
  /** The length of the token in Redis. */
  readonly length: number;
  /** For how long a wake counts, ms; without one, none is sent. */
  readonly wake: number | undefined;
}

interface Done {
  readonly answer: { readonly id: string; readonly created: boolean; readonly outcome: KeyedOutcome };
  readonly wake: boolean;
}

type Refused = "queue_full" | "idempotency_key_reused";

const FULL = "queue_full";

/** Adds a task under a key, or changes the one that waits there. */
export function enqueueKeyed(
  queue: QueueState,
  now: number,
  task: ModelNewTask,
  by: KeyOptions,
  call: KeyedCall,
): Done | Refused {
  const field = fieldOf(by, task.id);
  const key = keyIn(queue, field);
  const done = (outcome: KeyedOutcome, id: string, isReady: boolean, resent = false): Done => ({
    answer: { id, created: outcome === "created", outcome },
    wake: isReady && wakesOnEnqueue(queue, now, call.wake, resent),
  });
  const earlier = recalled(key, call);
  if (earlier === "reused") return "idempotency_key_reused";
  if (earlier) return done(earlier.outcome, earlier.id, earlier.isReady, earlier.isReady);
  const life = queue.tasks.get(task.id);
  if (life && life.state !== "ghost" && isReused(life.producer, call)) return "idempotency_key_reused";
  const { own, old } = known(queue, task, call.token);
  const due = by.debounce ? now + Number(by.debounce.wait) : dueOf(task, now);
  if (own) return done("created", task.id, due <= now, true);

  const asked: Asked = { queue, now, task, due, key, old, isTaken: own === false, token: call.token };
  const planned = plan(asked, by);
  if (planned === FULL) return FULL;
  const { outcome, id, isReady, keep } = apply(asked, planned);
  if (keep) {
    const { until, bytes = CALL_BYTES, ...changes } = keep;
    const letter = outcome.charAt(0);
    const remembered = {
      token: call.token,
      length: call.length,
      letter: isReady ? letter.toUpperCase() : letter,
      id,
    };
    const calls = outcome === "created" ? key.calls : remembering(key, remembered, bytes);
    storeKey(queue, now, field, { ...key, ...changes, calls }, until);
  }
  return done(outcome, id, isReady);
}

interface Asked {
  readonly queue: QueueState;
  readonly now: number;
  readonly task: ModelNewTask;
  readonly due: number;
  readonly key: ModelKey;
  /** What is left of the last life of its id. */
  readonly old: ModelTask | undefined;
  /** Whether another task has the id. */
  readonly isTaken: boolean;
  readonly token: string;
}

/** What a call does: it changes one task, or cancels one, and begins one. */
interface Plan {
  readonly outcome: KeyedOutcome;
  /** Of the task concerned. */
  readonly id: string;
  readonly change?: { readonly from: ModelTask; readonly to: ModelTask; readonly due: number };
  readonly cancels?: ModelTask | undefined;
  /** When the new task is due. */
  readonly begins?: number;
  /** Whether its payload is a list. */
  readonly isList?: boolean;
  /** What the key remembers; without it the record stays as it is. */
  readonly keep?: Partial<ModelKey> & { readonly until: number; readonly bytes?: number };
}

function plan(asked: Asked, by: KeyOptions): Plan | typeof FULL {
  if (by.debounce) return debounced(asked, by.debounce);
  if (by.throttle) return throttled(asked, by.throttle);
  return by.singleton ? single(asked, by.singleton) : replacing(asked);
}

/** The plan that creates the task; refused if the queue is full. @param freed pending tasks that it cancels */
function creating(
  { queue, now, task }: Asked,
  due: number,
  keep: Plan["keep"],
  freed = 0,
): Plan | typeof FULL {
  if (due <= now && freed === 0 && placesLeft(queue) < 1) return FULL;
  const life = { id: task.id, enqueuedAt: now };
  return { outcome: "created", id: task.id, begins: due, ...(keep && { keep: { ...keep, ...life } }) };
}

function debounced(
  asked: Asked,
  { wait, maxWait = Number.POSITIVE_INFINITY, keep = "last" }: Debounce,
): Plan | typeof FULL {
  const { queue, now, task, key, isTaken } = asked;
  const latest = (from: number) => Math.min(now + Number(wait), from + Number(maxWait));
  const isList = keep === "all";
  const bytes = isList ? CALL_BYTES_OF_LISTS : CALL_BYTES;
  const from = taskOf(queue, key);
  let full: Pick<Plan, "change"> = {};
  if (from && !hasBegun(from)) {
    const { id } = from;
    // One that is due stays so.
    const was = dueOfTask(queue, from);
    const due = was > now ? Math.max(now, latest(from.enqueuedAt)) : was;
    const kept = { keep: { until: Math.max(due, now) + DEBOUNCED_FOR, bytes } };
    if (keep === "first") return { outcome: "dropped", id, change: { from, to: { ...from }, due }, ...kept };
    if (!isList) return { outcome: "replaced", id, change: { from, to: replaced(from, task), due }, ...kept };
    const to = appended(from, task.payload);
    if (to) {
      const isFull = to.payloads === MOST_PAYLOADS;
      return { outcome: "appended", id, change: { from, to, due: isFull ? now : due }, ...kept };
    }
    full = { change: { from, to: { ...from }, due: now } };
  }
  if (isTaken)
    return { outcome: "dropped", id: task.id, ...full, keep: { until: now + DEBOUNCED_FOR, bytes } };
  const due = latest(now);
  const created = creating(asked, due, { until: due + DEBOUNCED_FOR });
  return created === FULL ? FULL : { ...created, ...full, isList };
}

/** A task with one more payload; undefined if there is no room, or its payload cannot be in a list. */
function appended(task: ModelTask, payload: unknown): ModelTask | undefined {
  const { payloads = 0 } = task;
  if (task.payload instanceof Uint8Array || payloads >= MOST_PAYLOADS) return undefined;
  const before = payloads > 0 ? (task.payload as unknown[]) : [task.payload];
  return { ...task, payload: [...before, payload], payloads: before.length + 1 };
}

function throttled(
  asked: Asked,
  { most, per, excess = "drop" }: NonNullable<KeyOptions["throttle"]>,
): Plan | typeof FULL {
  const { now, task, key, due, isTaken } = asked;
  const rate = { most, per: Number(per) };
  // None passes those that are delayed.
  const next = Math.max(now, key.lastAt ?? 0);
  const isSame = key.rate?.most === rate.most && key.rate.per === rate.per;
  const before = key.used ?? new Map();
  const used = key.rate && !isSame ? recount(before, key.rate, rate, next) : before;
  const isFree = left(rate, used, next) >= 1;
  const knownFor = rate.per + 2 * tenthOf(rate);
  if (isTaken || (excess === "drop" && (!isFree || next > now)))
    return { outcome: "dropped", id: isTaken ? task.id : key.id, keep: { until: next + knownFor } };
  const turnAt = isFree ? next : (opens(rate, used, next) as number);
  const dueAt = turnAt > now ? turnAt + Math.max(0, due - now) : due;
  const lastAt = turnAt > now ? turnAt : undefined;
  const keep = { rate, used: spend(rate, used, turnAt, 1), lastAt, until: turnAt + knownFor };
  return creating(asked, dueAt, keep);
}

function single(
  asked: Asked,
  { while: blocks, then = "drop" }: NonNullable<KeyOptions["singleton"]>,
): Plan | typeof FULL {
  const { queue, now, task, key, due, isTaken } = asked;
  const there = taskOf(queue, key);
  const from = there && hasBegun(there) && (blocks === "waiting" || then === "replace") ? undefined : there;
  const until = Math.max(now, due) + SINGLE_FOR;
  if (from && then === "replace") return replacement(asked, from, { until });
  if (from && then === "drop") {
    const was = dueOfTask(queue, from);
    return { outcome: "dropped", id: from.id, keep: { until: Math.max(now, was) + SINGLE_FOR } };
  }
  if (isTaken) return { outcome: "dropped", id: task.id, keep: { until: now + SINGLE_FOR } };
  const freed = from?.state === "pending" || (from?.state === "delayed" && dueOfTask(queue, from) <= now);
  const created = creating(asked, due, { until }, freed ? 1 : 0);
  return created === FULL ? FULL : { ...created, cancels: from };
}

function replacing(asked: Asked): Plan | typeof FULL {
  const { queue, now, task, due, isTaken } = asked;
  if (!isTaken) return creating(asked, due, undefined);
  const from = queue.task(task.id);
  const waits = from.state === "pending" || from.state === "delayed";
  if (!waits || hasBegun(from)) return { outcome: "dropped", id: task.id, keep: { until: now } };
  return replacement(asked, from, { until: now });
}

/** The plan that replaces a task; refused if it becomes ready and the queue is full. */
function replacement(
  { queue, now, task, due }: Asked,
  from: ModelTask,
  keep: NonNullable<Plan["keep"]>,
): Plan | typeof FULL {
  if (dueOfTask(queue, from) > now && due <= now && placesLeft(queue) < 1) return FULL;
  return { outcome: "replaced", id: from.id, change: { from, to: replaced(from, task), due }, keep };
}

/** A task with the payload and the options of another call. Its enqueue stays. */
function replaced(task: ModelTask, by: ModelNewTask): ModelTask {
  const { payload, headers, group, priority } = by;
  return {
    ...task,
    payload,
    headers,
    group,
    priority,
    fixedLease: by.lease,
    maxAttempts: by.maxAttempts ?? 10,
    resultTtl: by.resultTtl ?? 3_600_000,
    deadTtl: by.deadTtl ?? 604_800_000,
    uniqueFor: by.unique ?? 0,
    payloads: undefined,
  };
}

function apply(asked: Asked, planned: Plan): Plan & { readonly isReady: boolean } {
  const { queue, now, task, old, token } = asked;
  const { change: changed, cancels, begins, isList = false } = planned;
  const ends: Ends = newEnds();
  let isReady = false;
  if (changed) isReady = change(queue, now, changed.from, { task: changed.to, due: changed.due, ends });
  if (cancels) cancel(queue, now, cancels.id);
  if (begins !== undefined) {
    const payload = isList ? [task.payload] : task.payload;
    begin(queue, now, { ...task, payload, at: begins }, { old, ends, producer: token });
    if (isList) queue.task(task.id).payloads = 1;
    report(queue, "enqueued", now);
    isReady ||= begins <= now;
  }
  putInLine(queue, ends);
  follow(queue);
  return { ...planned, isReady };
}
