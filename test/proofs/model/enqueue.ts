import { follow, join, leaveStopped } from "./lines.ts";
import { wakesOnEnqueue } from "./wake.ts";
import { newEnds, putInLine } from "./transitions.ts";
import { placesLeft } from "./limits.ts";
import { isGrouped, newTask, scoreWhenDue, report, type ModelTask, type QueueState } from "./state.ts";

/** One task to add, with its defaults. Durations in ms. */
export interface ModelNewTask {
  readonly id: string;
  /** Whether the id was made from the call's key. */
  readonly derived?: boolean | undefined;
  readonly payload: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly delay?: number | undefined;
  readonly at?: number | undefined;
  readonly lease?: number | undefined;
  readonly maxAttempts?: number | undefined;
  readonly resultTtl?: number | undefined;
  readonly deadTtl?: number | undefined;
  readonly group?: string | undefined;
  readonly priority?: number | undefined;
  readonly dedup?: { readonly key: string; readonly window: number } | undefined;
  readonly again?: boolean | undefined;
  readonly unique?: number | undefined;
}

export interface ModelEnqueued {
  readonly tasks: readonly { readonly id: string; readonly created: boolean }[];
  /** Whether the caller has to wake a consumer. */
  readonly wake: boolean;
}

/**
 * Adds tasks, all or none.
 * @param call.producer the call's key: the same for each copy of it
 * @param call.asked what the whole call asked for: another call may have the same key
 * @param call.look whether the call reads the queue's settings even for one plain task
 * @param call.wake for how long a wake counts, ms
 * @returns "queue_full", or "idempotency_key_reused" if another call had the same key, if nothing was added
 */
export function enqueue(
  queue: QueueState,
  now: number,
  tasks: readonly ModelNewTask[],
  call: {
    readonly producer: string;
    readonly asked: string;
    readonly look: boolean;
    readonly wake?: number | undefined;
  },
): ModelEnqueued | "queue_full" | "idempotency_key_reused" {
  const producer = `${call.producer} ${call.asked}`;
  const isReused = ({ id }: ModelNewTask) => {
    const old = queue.tasks.get(id);
    if (!old || old.state === "ghost" || old.producer === producer) return false;
    return old.producer.startsWith(`${call.producer} `);
  };
  if (tasks.some(isReused)) return "idempotency_key_reused";
  const lone = tasks.length === 1 && tasks[0];
  const plain = !call.look && lone && !lone.again && !lone.dedup && !isGrouped(lone);
  /** The answer to the first task of an id in the call: further ones get the same id. */
  const answered = new Map<string, string>();
  const added: { task: ModelNewTask; old: ModelTask | undefined }[] = [];
  const keys = new Map<string, { until: number; id: string }>();
  /** By dedup key of this call, the task that the call, or an earlier copy of it, made. */
  const ours = new Map<string, string>();
  let [dueNow, resent] = [false, false];

  const answers = tasks.map((task) => {
    const before = answered.get(task.id);
    if (before !== undefined) return { id: before, created: false };
    const { own, old } = known(queue, task, producer);
    // A known task is answered about itself, whatever its dedup key is bound to by now: also in a copy of the
    // call that made it.
    const first = task.dedup && queue.dedup.get(task.dedup.key);
    const made = task.dedup && ours.get(task.dedup.key);
    const original =
      own !== undefined ? undefined : (made ?? (first && first.until > now ? first.id : undefined));
    answered.set(task.id, original ?? task.id);
    if (original !== undefined && original !== task.id) return { id: original, created: false };
    if (own !== false && task.dedup) ours.set(task.dedup.key, task.id);
    if (own !== false && dueOf(task, now) <= now) dueNow = true;
    if (own === true) resent = true;
    if (own === undefined) {
      added.push({ task, old });
      if (task.dedup) keys.set(task.dedup.key, { until: now + task.dedup.window, id: task.id });
    }
    return { id: task.id, created: own !== false };
  });

  const coming = added.filter(({ task }) => dueOf(task, now) <= now).length;
  if (!plain && coming > 0 && placesLeft(queue) < coming) return "queue_full";
  const ends = newEnds();
  for (const { task, old } of added) begin(queue, now, task, { old, ends, producer });
  putInLine(queue, ends);
  follow(queue);
  for (const [key, note] of keys) {
    queue.dedup.set(key, note);
    queue.expiry.set(`~d:${key}`, note.until);
  }
  if (!plain) report(queue, "enqueued", now, added.length);
  const wake = dueNow && wakesOnEnqueue(queue, now, call.wake, resent);
  return { tasks: answers, wake };
}

export function dueOf(task: ModelNewTask, now: number): number {
  return task.at ?? now + (task.delay ?? 0);
}

/**
 * True if an earlier copy of the call made the task, false if another call did; undefined if the id is free.
 */
export function known(
  queue: QueueState,
  { id, again }: ModelNewTask,
  producer: string,
): { own?: boolean; old?: ModelTask } {
  const old = queue.tasks.get(id);
  if (!old) return {};
  if (old.state === "ghost") return { old };
  const ended = old.state === "completed" || old.state === "rejected" || old.state === "removed";
  const own = old.producer === producer;
  return again && ended && !own ? { old } : { own };
}

export function begin(
  queue: QueueState,
  now: number,
  task: ModelNewTask,
  { old, ends, producer }: { old: ModelTask | undefined; ends: ReturnType<typeof newEnds>; producer: string },
): void {
  const { id, payload, headers, group, priority } = task;
  const due = dueOf(task, now);
  queue.expiry.delete(id);
  queue.dead.delete(id);
  if (old?.state === "rejected") leaveStopped(queue, old);
  const made = newTask({
    id,
    payload,
    headers,
    group,
    priority,
    producer,
    enqueuedAt: now,
    fixedLease: task.lease,
    maxAttempts: task.maxAttempts ?? 10,
    resultTtl: task.resultTtl ?? 3_600_000,
    deadTtl: task.deadTtl ?? 604_800_000,
    uniqueFor: task.unique ?? 0,
    // A new life continues the versions of the one before.
    version: old && old.state !== "ghost" ? old.version + 1 : 1,
    ghosts: old?.ghosts ?? 0,
  });
  queue.tasks.set(id, made);
  if (due > now) {
    made.state = "delayed";
    queue.delayed.set(id, scoreWhenDue(made, due));
  } else if (isGrouped(made)) join(queue, made);
  // The entry that a cancelled life left in the line becomes this task's place.
  else if (made.ghosts > 0) made.ghosts--;
  else ends.back.push(id);
}
