import { SluiceError } from "../../errors.ts";
import { callOf } from "../redis/binding.ts";
import { calendarOf, type Calendar } from "./calendar.ts";
import { queueKeys, readPartitionName, registryKey } from "../core/keys.ts";
import { placeOccurrences } from "./place-occurrences.ts";
import { isWrongType } from "../partitions/marker.ts";
import { lastReply } from "../redis/replies.ts";
import { NEVER, orUnsupported, readPlan, type Plan } from "./schedule-record.ts";
import { dueSchedulesScript, runSchedulesScript, setReminderScript } from "../redis/schedule-scripts.ts";
import {
  type Command,
  type CommandOutcome,
  sendForEach,
  type SendOptions,
  type Transport,
} from "../redis/transport.ts";

/** Most queues whose schedules one request reads: each queue may have many that are due. */
const QUEUES_PER_REQUEST = 20;

/** Most schedules of one queue, and most occurrences of them all, that one call runs. */
const MAX_SCHEDULES = 50;
const MAX_OCCURRENCES = 200;

/** Most failed schedules of one queue that a pass skips. */
const MAX_SKIPPED = 950;

/** A schedule that is due. */
interface DueSchedule {
  readonly name: string;
  /** The first occurrence that was not enqueued, epoch ms. */
  readonly at: number;
  readonly record: string;
  /** The occurrences to enqueue, epoch ms. */
  readonly times: readonly number[];
  /** The occurrence after them, epoch ms. */
  readonly following: number;
}

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

/** A queue that has schedules, and when a sweep runs them next, epoch ms. */
export interface Reminder {
  readonly queue: string;
  readonly at: number;
}

export interface SchedulePassOptions extends SendOptions {
  readonly prefix?: string | undefined;
  /** Most tasks that one call enqueues. */
  readonly limit: number;
  /** When to stop, on the clock of `performance.now()`: time must be left to sweep the queues. */
  readonly until: number;
  /** For tests only: the clock (epoch ms) instead of Redis's. */
  readonly now?: (() => number) | undefined;
}

/**
 * Enqueues the occurrences of schedules that are due, as part of a sweep. A script cannot compute
 * occurrences, so they are computed here, from the schedule's record and Redis's time. The script enqueues
 * them if the schedule is unchanged.
 */
export class SchedulePass {
  readonly #transport: Transport;
  readonly #options: SchedulePassOptions;
  readonly #maxSchedules: number;
  #hasTakenStep = false;
  /** How many occurrences were enqueued. */
  scheduled = 0;
  /** True if time was up with schedules left to run. */
  more = false;
  /** Queues with a schedule that failed, and the code of the error. */
  readonly failed = new Map<string, string>();
  /** Queues whose own keys hold values of another type: markers, if they have got partitions. */
  readonly marked = new Set<string>();
  /** By queue, the next occurrence of its schedules that is known, epoch ms. */
  readonly next = new Map<string, number>();
  /** Failed schedules by queue. They stay due, and are skipped so that the others run. */
  readonly #skipped = new Map<string, Set<string>>();

  constructor(transport: Transport, options: SchedulePassOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#maxSchedules = Math.min(options.limit, MAX_SCHEDULES);
  }

  /**
   * Runs the schedules of queues whose reminders are due.
   * @returns the queues that had schedules due, and the partitions, and so have new tasks
   */
  async run(reminders: readonly Reminder[]): Promise<ReadonlySet<string>> {
    const withTasks = new Set<string>();
    let rest = reminders;
    while (rest.length > 0) {
      // Each pass takes a step, or slow requests would keep back the schedules for ever.
      if (this.#hasTakenStep && performance.now() >= this.#options.until) {
        this.more = true;
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
        if (next > now) this.#noteNext(queue, next);
        if (next <= now && progressed) unfinished.push(reminder);
        else if (!this.#skipped.has(queue))
          nextReminders.push({ queue, before: String(before), at: next === Infinity ? "" : String(next) });
      }
      if (nextReminders.length > 0) {
        const keys = { queues: registryKey(this.#options.prefix) };
        await this.#send([callOf(setReminderScript, keys, { testNow: this.#testNow() }, nextReminders)]);
      }
      rest = [...rest.slice(QUEUES_PER_REQUEST), ...unfinished];
    }
    return withTasks;
  }

  /** Notes the next occurrences of queues whose reminders are not due. */
  noteReminders(reminders: readonly Reminder[], now: number): void {
    for (const { queue, at } of reminders) if (at > now) this.#noteNext(queue, at);
  }

  #noteNext(queue: string, at: number): void {
    if (at < NEVER) this.next.set(queue, at);
  }

  /** Reads the schedules that are due, and computes what to enqueue. A queue that fails is left out. */
  async #readDue(reminders: readonly Reminder[]): Promise<DueQueue[]> {
    const outcomes = await this.#send(
      reminders.map(({ queue }) => {
        const skipped = Math.min(this.#skipped.get(queue)?.size ?? 0, MAX_SKIPPED);
        const args = { testNow: this.#testNow(), limit: String(this.#maxSchedules + skipped) };
        return callOf(dueSchedulesScript, this.#keys(queue), args);
      }),
    );
    return reminders
      .map((reminder, i): DueQueue | undefined => {
        const found = this.#read(reminder.queue, outcomes[i], dueSchedulesScript.decode);
        if (!found) return undefined;
        const { now, after } = found;
        const wanted = found.due.filter(({ name }) => !this.#skipped.get(reminder.queue)?.has(name));
        const most = Math.max(1, Math.floor(Math.min(this.#options.limit, MAX_OCCURRENCES) / wanted.length));
        const due: DueSchedule[] = [];
        for (const { name, at, record } of wanted) {
          try {
            due.push({ name, at, record, ...occurrencesOf(record, at, now, most) });
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
   * @param withTasks gets the partitions that have new tasks
   * @returns for each queue also its next occurrence, epoch ms. It is undefined if the queue is full, or
   *   another caller changed its schedules
   */
  async #enqueueDue(
    queues: readonly DueQueue[],
    withTasks: Set<string>,
  ): Promise<(DueQueue & { readonly next: number | undefined })[]> {
    const wanted = queues.filter(({ due }) => due.length > 0);
    const args = { testNow: this.#testNow() };
    const outcomes = await this.#send(
      wanted.map(({ reminder: { queue }, due }) => {
        const items = due.map((schedule) => runItem(schedule, schedule.times.join(" "), schedule.following));
        return callOf(runSchedulesScript, this.#keys(queue), args, items);
      }),
    );
    const enqueued = [];
    for (const dueQueue of queues) {
      const { queue } = dueQueue.reminder;
      const index = wanted.indexOf(dueQueue);
      const done =
        index < 0
          ? { full: false, schedules: [] }
          : this.#read(queue, outcomes[index], runSchedulesScript.decode);
      const nexts: number[] = [];
      const grouped: (DueSchedule & { readonly task: string })[] = [];
      for (const [i, { added, next, task }] of (done?.schedules ?? []).entries()) {
        const schedule = dueQueue.due[i] as DueSchedule;
        this.scheduled += added;
        if (next === -2) this.#skip(queue, schedule.name, "unexpected_reply");
        else if (task !== undefined) grouped.push({ ...schedule, task });
        else nexts.push(next);
      }
      if (grouped.length > 0) await this.#placeGrouped(queue, grouped, nexts, withTasks);
      if (done?.full) this.failed.set(queue, "queue_full");
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
    const { queue } = readPartitionName(name);
    const { placed, partitions } = await placeOccurrences(this.#transport, queue, due, this.#options);
    for (const partition of partitions) withTasks.add(partition);
    const items = [];
    for (const [i, result] of placed.entries()) {
      const schedule = due[i] as DueSchedule;
      if ("failed" in result) {
        this.#skip(name, schedule.name, result.failed);
        continue;
      }
      const { added, last, next, isFull } = result;
      this.scheduled += added;
      // Others may have room.
      if (isFull) this.#skip(name, schedule.name, "queue_full");
      if (last !== undefined) items.push(runItem(schedule, `=${last}`, next));
      // The request had no room for it.
      else if (!isFull) nexts.push(next);
    }
    if (items.length > 0) {
      const call = callOf(runSchedulesScript, this.#keys(name), { testNow: this.#testNow() }, items);
      const moved = this.#read(name, (await this.#send([call]))[0], runSchedulesScript.decode);
      nexts.push(...(moved?.schedules.map(({ next }) => next) ?? [-1]));
    }
  }

  /** Records that a schedule failed, so that the pass skips it from now on. */
  #skip(queue: string, name: string, code: string): void {
    this.failed.set(queue, code);
    this.#skipped.set(queue, (this.#skipped.get(queue) ?? new Set()).add(name));
  }

  /** Reads the reply of one queue; an error of that queue is recorded, and does not end the pass. */
  #read<T>(
    queue: string,
    outcome: CommandOutcome | undefined,
    decode: (reply: Parameters<typeof runSchedulesScript.decode>[0]) => T,
  ): T | undefined {
    try {
      return decode(lastReply(outcome ? [outcome] : []));
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      this.failed.set(queue, error.code);
      if (isWrongType(error) && !queue.includes("/")) this.marked.add(queue);
      return undefined;
    }
  }

  async #send(commands: readonly Command[]): Promise<CommandOutcome[]> {
    return commands.length > 0 ? sendForEach(this.#transport, commands, this.#options) : [];
  }

  #keys(queue: string) {
    return queueKeys(queue, this.#options.prefix);
  }

  #testNow(): string {
    return this.#options.now ? String(this.#options.now()) : "";
  }
}

/** A schedule as the script takes it. */
const runItem = ({ name, at, record }: DueSchedule, times: string, following: number) => ({
  name,
  at: String(at),
  record,
  times,
  following: String(following),
});

/**
 * The occurrences of a schedule that are due, and the one after them.
 * @param at the first occurrence that was not enqueued, epoch ms
 * @param now Redis's time, epoch ms
 * @param most how many occurrences to return
 * @throws {SluiceError} `unsupported`, `newer_schema`, or `unexpected_reply` for an invalid record
 */
function occurrencesOf(
  record: string,
  at: number,
  now: number,
  most: number,
): Pick<DueSchedule, "times" | "following"> {
  const { rhythm, until, missed } = readPlan(record);
  return orUnsupported(() => occurrences(calendarOf(rhythm, until), missed, at, now, most));
}

function occurrences(calendar: Calendar, missed: Plan["missed"], at: number, now: number, most: number) {
  if (missed === "last") {
    const last = Math.max(at, calendar.lastUntil(now) ?? at);
    return { times: [last], following: calendar.firstFrom(now + 1) ?? NEVER };
  }
  const times = [at];
  let next = calendar.firstFrom(at + 1);
  for (; next !== undefined && next <= now && times.length < most; next = calendar.firstFrom(next + 1)) {
    times.push(next);
  }
  return { times, following: next ?? NEVER };
}
