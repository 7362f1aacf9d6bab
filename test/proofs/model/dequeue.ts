import { entriesOf, Line } from "./line.ts";
import { allowed, redated, spend } from "./limits.ts";
import { deliverable, mayFollow, noteMet, notePassed, type Passed, unpredictable } from "./delivery-order.ts";
import { isPaused } from "./pauses.ts";
import { report, transition, type ModelTask, type QueueState } from "./state.ts";
import { heardOf } from "./wake.ts";
import { noteWorker, type SignOfLife } from "./workers.ts";

export interface ModelDequeue {
  readonly max: number;
  /** The lease of tasks that fixed none, ms. */
  readonly lease: number;
  readonly token: string;
  /** Whether an earlier copy of the call may have been sent. */
  readonly resend: boolean;
  /** Whether this copy stops after its first request, because its answer is lost. */
  readonly unheard?: boolean | undefined;
  /** Whether the bound on bytes allows no more than one task. */
  readonly single?: boolean | undefined;
  readonly worker?: SignOfLife | undefined;
  /** Called after each of its requests. */
  readonly send?: (() => void) | undefined;
}

export interface ModelBatch {
  readonly tasks: readonly {
    readonly id: string;
    readonly attempt: number;
    readonly lease: number;
    readonly deadlineAt: number;
  }[];
  /** Undefined if the model cannot predict it. */
  readonly nextDueAt: number | null | undefined;
  readonly paused: boolean;
}

/** What was seen in Redis. With groups the model does not predict the order of delivery. */
export interface Seen {
  /** The delivered ids, in order. */
  readonly given: readonly string[];
  /** Whether groups or priorities were in use before, and whether a limit held some of them. */
  readonly usesGroups: boolean;
  /** Whether they came into use meanwhile: due tasks may then have been put in line behind popped ones. */
  readonly began: boolean;
  readonly holding: boolean;
  /** Whether some are moving up in a group, which may end a batch early. */
  readonly moving: boolean;
  /** Whether due tasks have been put in line; after cancelled entries the call looks for them. */
  readonly brought: boolean;
  /** Whether it has looked for what is due, if it had to: otherwise only if it is not plain. */
  readonly looked: boolean;
  /** The groups whose rates had counted ahead of a clock that was set back. */
  readonly ahead: ReadonlySet<string>;
  /** The list afterwards, the next one first. */
  readonly line: readonly string[];
}

/** Which slot remembers the dequeue. */
export function slotOf({ token, max }: Pick<ModelDequeue, "token" | "max">): string {
  const slots = max > 100 ? 64 : 1_024;
  let hash = 0;
  for (const character of token.slice(-4)) hash = hash * 31 + character.charCodeAt(0);
  return `${max > 100 ? "R" : "r"}${hash % slots}`;
}

/**
 * Leases tasks. With groups or priorities `seen` decides, within what they allow. A call
 * that has passed only undeliverable entries goes on: they do not delay the tasks behind them.
 */
export function dequeue(queue: QueueState, now: number, call: ModelDequeue, seen: Seen): ModelBatch {
  for (let looks = 1; ; looks++) {
    const { goesOn, ...batch } = lookOnce(queue, now, { ...call, resend: call.resend || looks > 1 }, seen);
    call.send?.();
    if (!goesOn || call.unheard) return batch;
  }
}

function lookOnce(
  queue: QueueState,
  now: number,
  call: ModelDequeue,
  seen: Seen,
): ModelBatch & { readonly goesOn?: boolean } {
  const { ghosts } = queue;
  const slot = slotOf(call);
  const line = new Line(queue, now, seen.looked);
  line.fetch(call.max);
  const remembered = queue.slots.get(slot);
  if (remembered?.token === call.token) {
    line.putBack(0);
    const tasks = leasedUnder(queue, call.token, remembered.ids);
    // A copy without tasks gives the same reason as the first one did.
    const paused = isPaused(queue.settings, now) && tasks.length === 0;
    return { tasks, nextDueAt: paused ? queue.settings.pausedUntil : now, paused };
  }
  const spendToken = () => {
    if (call.resend) queue.slots.set(slot, { token: call.token, ids: [] });
  };
  const nothing = (nextDueAt: number | null | undefined, paused = false): ModelBatch => {
    if (call.worker) noteWorker(queue, call.worker, now);
    return { tasks: [], nextDueAt, paused };
  };
  if (isPaused(queue.settings, now)) {
    line.putBack(0);
    spendToken();
    return nothing(queue.settings.pausedUntil, true);
  }
  const usesGroups = () => seen.usesGroups || queue.grouped.length > 0;
  const { maxWorking, rate } = queue.settings;
  let most = call.max;
  if ((maxWorking !== null || rate !== null) && (line.entries.length > 0 || usesGroups())) {
    let limit = allowed(queue, call.max, now);
    const looks = limit.most < 1 ? maxWorking !== null : usesGroups() && seen.holding;
    if (looks && line.asked === undefined) {
      // Expired leases may fill the limit; or a group has one, and goes on when its timer is due.
      line.putBack(0);
      if (line.bringDue(0, call.max)) {
        line.fetch(call.max);
        limit = allowed(queue, call.max, now);
        if (line.entries.length === 0 && !usesGroups()) limit = { ...limit, most: call.max };
      }
    }
    // From the first look on, counts ahead of the clock expire with time.
    if (rate !== null) queue.used = redated(rate, queue.used, now);
    if (limit.most < 1) {
      line.putBack(0);
      spendToken();
      return nothing(limit.again);
    }
    most = Math.min(most, limit.most);
  }

  const grouped = usesGroups();
  const batch = grouped
    ? sharedBatch(queue, now, line, { call, most, seen })
    : plainBatch(queue, line, call, most);
  if (call.worker) noteWorker(queue, call.worker, now);
  const tasks = batch.map((task) => give(queue, now, call, task));
  // With groups the model predicts neither the order nor how often a call goes on.
  const unfinished = grouped
    ? queue.ghosts < ghosts && line.asked === undefined
    : !line.drained || line.asked === undefined || line.unseen;
  if (tasks.length === 0 && unfinished) return { tasks, nextDueAt: now, paused: false, goesOn: true };
  if (tasks.length > 0) {
    queue.slots.set(slot, { token: call.token, ids: tasks.map(({ id }) => id) });
    if (rate) queue.used = spend(rate, queue.used, now, tasks.length);
    heardOf(queue, now);
  } else {
    spendToken();
    if (line.drained) queue.wake = undefined;
  }
  report(queue, "dequeued", now, tasks.length);
  for (const { attempt, enqueuedAt } of batch) {
    if (attempt !== 1) continue;
    report(queue, "waits.count", now);
    report(queue, "waits.total", now, Math.max(0, now - enqueuedAt));
  }
  // A group at its limit has a timer of its own.
  const nextDueAt =
    grouped || queue.groups.size > 0
      ? undefined
      : line.drained && !line.unseen
        ? (line.asked ?? now) || null
        : now;
  return { tasks, nextDueAt, paused: false };
}

/** The tasks that are still leased under a call's token. */
function leasedUnder(queue: QueueState, token: string, ids: readonly string[]): ModelBatch["tasks"] {
  return ids.flatMap((id) => {
    const task = queue.tasks.get(id);
    if (task?.state !== "working" || task.token !== token) return [];
    return [{ id, attempt: task.attempt, lease: task.lease, deadlineAt: queue.working.get(id) as number }];
  });
}

export function give(
  queue: QueueState,
  now: number,
  call: ModelDequeue,
  task: ModelTask,
): ModelBatch["tasks"][number] {
  task.state = "working";
  transition(task, "working", now);
  task.attempt++;
  task.charged++;
  task.lease = ++queue.lease;
  task.token = call.token;
  task.dequeuedAt = now;
  task.worker = call.worker?.worker;
  task.leasedFor = task.fixedLease ?? call.lease;
  const deadlineAt = now + task.leasedFor;
  queue.working.set(task.id, deadlineAt);
  return { id: task.id, attempt: task.attempt, lease: task.lease, deadlineAt };
}

/** A batch shrinks for tasks whose lease expired k times: to a tenth for each time, but never to 0. */
const company = (task: ModelTask, max: number) =>
  task.expired > 0 ? Math.max(1, Math.floor(max / 10 ** task.expired)) : Number.POSITIVE_INFINITY;

function plainBatch(queue: QueueState, line: Line, call: ModelDequeue, allowed: number): ModelTask[] {
  const batch: ModelTask[] = [];
  let most = allowed;
  if (most < line.entries.length) line.putBack(most);
  // Records are read in slices. If the batch is full at the end of a slice, the rest is not read.
  let slice = 32;
  for (let at = 0; at < line.entries.length; at++) {
    const task = queue.task(line.entries[at] as string);
    if (task.ghosts > 0) dropGhost(queue, task);
    else {
      const fits = Math.min(most, company(task, call.max));
      if (batch.length >= fits || (call.single && batch.length > 0)) {
        line.putBack(at);
        return batch;
      }
      most = fits;
      batch.push(task);
    }
    const last = at === line.entries.length - 1;
    if (last || at + 1 === slice) {
      slice = at + 1 + 128;
      if (batch.length >= most) {
        line.putBack(at + 1);
        return batch;
      }
    }
    // Cancelled entries do not delay the tasks behind them.
    if (last && !line.drained) line.fetch(Math.max(most - batch.length, Math.min(line.entries.length, 128)));
  }
  return batch;
}

export function dropGhost(queue: QueueState, task: ModelTask): void {
  task.ghosts--;
  if (task.state === "ghost" && task.ghosts === 0) queue.tasks.delete(task.id);
}

/** Takes the delivered tasks. Throws if one must not be delivered, or if more should have been. */
function sharedBatch(
  queue: QueueState,
  now: number,
  line: Line,
  { call, most: allowed, seen }: { call: ModelDequeue; most: number; seen: Seen },
): ModelTask[] {
  line.putBack(0);
  noteMet(queue, now, seen.ahead);
  // A copy after a lost one may have put in line what that one did not give.
  const isPredictable = !call.unheard && !seen.began;
  const brought = isPredictable
    ? seen.brought
    : seen.given.some((id) => queue.tasks.get(id)?.state !== "pending");
  if ((seen.holding || brought) && line.asked === undefined) line.bringDue(0, call.max);
  const passed: Passed = { last: undefined, early: seen.began };
  const batch: ModelTask[] = [];
  let most = allowed;
  for (const id of seen.given) {
    const task = queue.tasks.get(id);
    if (!task || task.state !== "pending") throw new Error(`${id} is ${task?.state} and was given`);
    most = Math.min(most, company(task, call.max));
    if (batch.length >= most) throw new Error(`${id} was given in a batch that should have ${most} tasks`);
    mayFollow(queue, now, task, passed);
    notePassed(queue, now, task, passed);
    batch.push(task);
    task.state = "working";
  }
  const given = new Set(seen.given);
  queue.grouped = queue.grouped.filter((id) => !given.has(id));
  queue.line = afterGhosts(
    queue,
    entriesOf(queue).flatMap(({ id, isGhost }) => (isGhost || !given.has(id) ? [id] : [])),
    seen.line,
  );
  const late = seen.began && seen.brought && line.asked === undefined;
  const waiting = late ? [] : deliverable(queue, now);
  if (late) line.bringDue(0, call.max);
  const alone = (task: ModelTask) => batch.length >= company(task, call.max);
  const full = batch.length >= most || (call.single && batch.length > 0);
  const ended = seen.began || seen.moving || [...waiting, ...unpredictable(queue)].some(alone);
  if (!full && !ended && waiting.length > 0) {
    throw new Error(`${batch.length} tasks were given, and ${waiting[0]?.id} was not`);
  }
  line.drained = !full && waiting.length === 0;
  return batch;
}

/**
 * The line without the ghosts that the call passed. A copy of the call may have put due tasks in line since.
 */
function afterGhosts(queue: QueueState, line: readonly string[], seen: readonly string[]): string[] {
  const left: string[] = [];
  const stayed = seen.filter((id) => line.includes(id));
  for (const id of line) {
    const task = queue.task(id);
    if (stayed[left.length] === id) left.push(id);
    else if (task.ghosts > 0) dropGhost(queue, task);
    else throw new Error(`${id} has left the line`);
  }
  return left;
}
