import { SluiceError } from "../../errors.ts";
import { type Call, eachAlone, exchange } from "../../kernel/call.ts";
import { dueOccurrences, type DueSchedule } from "./due-occurrences.ts";
import { registryKey } from "../../kernel/names/keys.ts";
import { isWrongType } from "../../kernel/scripts/wrong-type.ts";
import { type AddsTo, placeOccurrences } from "./place-occurrences.ts";
import { dueSchedulesScript, runSchedulesScript, setReminderScript } from "./schedule-scripts.ts";
import type { CurrentSweep, PartOfSweep } from "../../sweep/part.ts";
import type { Reminder, RegistryPage } from "../../sweep/registry.ts";
import type { SweepReport } from "../../sweep/types.ts";
import { registerCall } from "../../kernel/note.ts";

/** Most queues whose schedules one request reads: each queue may have many that are due. */
const QUEUES_PER_REQUEST = 20;

/** Most schedules of one queue, and most occurrences of them all, that one call runs. */
const MAX_SCHEDULES = 50;
const MAX_OCCURRENCES = 200;

/** Most failed schedules of one queue that a pass skips. */
const MAX_SKIPPED = 950;

/** The schedules of a queue that are due. */
interface DueQueue {
  readonly reminder: Reminder;
  /** Redis's time, epoch ms. */
  readonly now: number;
  readonly due: readonly DueSchedule[];
  /** Whether some schedules that are due failed. */
  readonly hasFailed: boolean;
  /** The first occurrence of the other schedules, epoch ms; 0 if there is none. */
  readonly after: number;
}

/**
 * Enqueues the occurrences of schedules that are due, as part of a sweep. A script cannot compute
 * occurrences, so they are computed here, from the schedule's record and Redis's time. The script enqueues
 * them if the schedule is unchanged.
 */
class SchedulePass implements PartOfSweep {
  readonly #sweep: CurrentSweep;
  readonly #addsTo: AddsTo;
  /** When to stop, on the clock of `performance.now()`: time must be left to sweep the queues. */
  readonly #until: number;
  readonly #maxSchedules: number;
  #hasTakenStep = false;
  /** How many occurrences were enqueued. */
  #scheduled = 0;
  /** Failed schedules by queue. They stay due, and are skipped so that the others run. */
  readonly #skipped = new Map<string, Set<string>>();

  constructor(sweep: CurrentSweep, addsTo: AddsTo) {
    this.#sweep = sweep;
    this.#addsTo = addsTo;
    this.#until = (sweep.begunAt + sweep.deadline) / 2;
    this.#maxSchedules = Math.min(sweep.limit, MAX_SCHEDULES);
  }

  async before({ reminders, now }: RegistryPage): Promise<ReadonlySet<string>> {
    return this.#run(reminders.filter(({ queue, at }) => at <= now && this.#sweep.isWanted(queue)));
  }

  finish(): Partial<SweepReport> {
    return { scheduled: this.#scheduled };
  }

  /**
   * Runs the schedules of queues whose reminders are due.
   * @returns the queues that had schedules due, and the shards of others, and so have new tasks
   */
  async #run(reminders: readonly Reminder[]): Promise<ReadonlySet<string>> {
    await this.#noteShards(reminders);
    const withTasks = new Set<string>();
    let rest = reminders;
    while (rest.length > 0) {
      // Each pass takes a step, or slow requests would keep back the schedules for ever.
      if (this.#hasTakenStep && performance.now() >= this.#until) {
        this.#sweep.more = true;
        break;
      }
      this.#hasTakenStep = true;
      const unfinished: Reminder[] = [];
      const nextReminders: { queue: string; before: string; at: string }[] = [];
      const queues = await this.#readDue(rest.slice(0, QUEUES_PER_REQUEST));
      for (const { reminder, now, due, hasFailed, next } of await this.#enqueueDue(queues, withTasks)) {
        const { queue, at: before } = reminder;
        if (due.length > 0) withTasks.add(queue);
        // The reminder stays, and the next sweep reads the schedules again.
        if (next === undefined) continue;
        const progressed = due.length > 0 || hasFailed;
        if (next > now) this.#sweep.remind(queue, next);
        if (next <= now && progressed) unfinished.push(reminder);
        else if (!this.#skipped.has(queue))
          nextReminders.push({ queue, before: String(before), at: next === Infinity ? "" : String(next) });
      }
      if (nextReminders.length > 0) {
        const registry = this.#sweep.shardOf(nextReminders[0]?.queue ?? "");
        await this.#exchange([registry.call(setReminderScript, {}, nextReminders)]);
      }
      rest = [...rest.slice(QUEUES_PER_REQUEST), ...unfinished];
    }
    return withTasks;
  }

  /** Notes that shards are in use whose schedules are due: they are about to have tasks. */
  async #noteShards(reminders: readonly Reminder[]): Promise<void> {
    const shards = reminders.map(({ queue }) => queue).filter((name) => name.includes("/"));
    if (shards.length === 0) return;
    const { transport, options, testNow } = this.#sweep;
    const keys = { queues: registryKey(options.prefix) };
    await transport.send([registerCall(keys, shards, testNow)], options);
  }

  /** Reads the schedules that are due, and computes what to enqueue. A queue that fails is left out. */
  async #readDue(reminders: readonly Reminder[]): Promise<DueQueue[]> {
    const replies = await this.#exchange(
      reminders.map(({ queue }) => {
        const skipped = Math.min(this.#skipped.get(queue)?.size ?? 0, MAX_SKIPPED);
        const args = { limit: String(this.#maxSchedules + skipped) };
        return this.#sweep.shardOf(queue).call(dueSchedulesScript, args);
      }),
    );
    return reminders
      .map((reminder, i): DueQueue | undefined => {
        const found = this.#read(reminder.queue, replies[i]);
        if (!found) return undefined;
        const { now, after } = found;
        const wanted = found.due.filter(({ name }) => !this.#skipped.get(reminder.queue)?.has(name));
        const most = Math.max(1, Math.floor(Math.min(this.#sweep.limit, MAX_OCCURRENCES) / wanted.length));
        const due: DueSchedule[] = [];
        for (const { name, at, record } of wanted) {
          try {
            due.push({ name, at, record, ...dueOccurrences(record, at, now, most) });
          } catch (error) {
            if (!(error instanceof SluiceError)) throw error;
            this.#skip(reminder.queue, name, error.code);
          }
        }
        return { reminder, now, due, hasFailed: due.length < wanted.length, after };
      })
      .filter((queue) => queue !== undefined);
  }

  /**
   * Enqueues what is due.
   * @param withTasks gets the shards that have new tasks
   * @returns for each queue also its next occurrence, epoch ms. It is undefined if the queue is full, or
   *   another caller changed its schedules
   */
  async #enqueueDue(
    queues: readonly DueQueue[],
    withTasks: Set<string>,
  ): Promise<(DueQueue & { readonly next: number | undefined })[]> {
    const wanted = queues.filter(({ due }) => due.length > 0);
    const replies = await this.#exchange(
      wanted.map(({ reminder: { queue }, due }) => {
        const items = due.map((schedule) => runItem(schedule, schedule.times.join(" "), schedule.following));
        return this.#sweep.shardOf(queue).call(runSchedulesScript, {}, items);
      }),
    );
    const enqueued = [];
    for (const dueQueue of queues) {
      const { queue } = dueQueue.reminder;
      const index = wanted.indexOf(dueQueue);
      const done = index < 0 ? { full: false, schedules: [] } : this.#read(queue, replies[index]);
      const nexts: number[] = [];
      const grouped: (DueSchedule & { readonly task: string })[] = [];
      for (const [i, { added, next, task }] of (done?.schedules ?? []).entries()) {
        const schedule = dueQueue.due[i] as DueSchedule;
        this.#scheduled += added;
        if (next === -2) this.#skip(queue, schedule.name, "unexpected_reply");
        else if (task !== undefined) grouped.push({ ...schedule, task });
        else nexts.push(next);
      }
      if (grouped.length > 0) await this.#placeGrouped(queue, grouped, nexts, withTasks);
      if (done?.full) this.#sweep.failedParts.set(queue, "queue_full");
      const sure = done && !done.full && nexts.every((next) => next >= 0);
      const next = sure ? Math.min(...nexts, dueQueue.after || Infinity) : undefined;
      enqueued.push({ ...dueQueue, next });
    }
    return enqueued;
  }

  /**
   * Enqueues occurrences in the partitions that own the slots of their groups, and then moves the schedules on.
   * If the pass ends in between, the next one finds the occurrences by their ids.
   * @param nexts gets the next occurrence of each schedule that was moved on, or has to wait for the next call;
   *   -1 if another caller changed the schedule
   */
  async #placeGrouped(
    name: string,
    due: readonly (DueSchedule & { readonly task: string })[],
    nexts: number[],
    withTasks: Set<string>,
  ): Promise<void> {
    const { placed, shards } = await placeOccurrences(this.#sweep.shardOf(name).queue, due, {
      addsTo: this.#addsTo,
      signal: this.#sweep.options.signal,
      until: this.#until,
    });
    for (const shard of shards) withTasks.add(shard);
    const items = [];
    for (const [i, result] of placed.entries()) {
      const schedule = due[i] as DueSchedule;
      if ("failed" in result) {
        this.#skip(name, schedule.name, result.failed);
        continue;
      }
      const { added, last, next, isFull } = result;
      this.#scheduled += added;
      // Others may have room.
      if (isFull) this.#skip(name, schedule.name, "queue_full");
      if (last !== undefined) items.push(runItem(schedule, `=${last}`, next));
      // The request had no room for it.
      else if (!isFull) nexts.push(next);
    }
    if (items.length > 0) {
      const [reply] = await this.#exchange([this.#sweep.shardOf(name).call(runSchedulesScript, {}, items)]);
      const moved = this.#read(name, reply);
      nexts.push(...(moved?.schedules.map(({ next }) => next) ?? [-1]));
    }
  }

  /** Records that a schedule failed, so that the pass skips it from now on. */
  #skip(queue: string, name: string, code: string): void {
    this.#sweep.failedParts.set(queue, code);
    this.#skipped.set(queue, (this.#skipped.get(queue) ?? new Set()).add(name));
  }

  /** Reads the reply of one queue; an error of that queue is recorded, and does not end the pass. */
  #read<T>(queue: string, reply: (() => T) | undefined): T | undefined {
    try {
      return reply?.();
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      this.#sweep.failedParts.set(queue, error.code);
      if (isWrongType(error) && !queue.includes("/")) this.#sweep.marked.add(queue);
      return undefined;
    }
  }

  #exchange<T>(calls: readonly Call<T>[]): Promise<readonly (() => T)[]> {
    return exchange(eachAlone(this.#sweep.transport), calls, this.#sweep.options);
  }
}

/**
 * The part of schedules in a sweep.
 * @param addsTo for tasks with a group, in queues with partitions
 */
export function schedulesPart(sweep: CurrentSweep, addsTo: AddsTo): PartOfSweep {
  return new SchedulePass(sweep, addsTo);
}

/** A schedule as the script takes it. */
const runItem = ({ name, at, record }: DueSchedule, times: string, following: number) => ({
  name,
  at: String(at),
  record,
  times,
  following: String(following),
});
