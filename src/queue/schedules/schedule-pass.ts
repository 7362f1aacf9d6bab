import { SluiceError } from "../../errors.ts";
import { callOf } from "../redis/binding.ts";
import { calendarOf, type Calendar } from "./calendar.ts";
import { queueKeys, registryKey } from "../core/keys.ts";
import { lastReply } from "../redis/replies.ts";
import { NEVER, readPlan, tellable, type Plan } from "./schedule-record.ts";
import { dueSchedulesScript, runSchedulesScript, setReminderScript } from "../redis/schedule-scripts.ts";
import type { Command, CommandOutcome, SendOptions, Transport } from "../redis/transport.ts";

/** Queues that are looked at in one request: each may have many schedules that are due. */
const QUEUES_PER_REQUEST = 20;

/** Most schedules of one queue, and most occurrences of them all, that one call enqueues. */
const MOST_SCHEDULES = 50;
const MOST_OCCURRENCES = 200;

/** Most schedules of one queue that a pass looks past because it cannot follow them. */
const MOST_STUCK = 950;

/** A schedule that is due, and what that means. */
interface Due {
  readonly name: string;
  readonly at: number;
  readonly record: string;
  /** Its occurrences that are due. */
  readonly times: readonly number[];
  /** The one after them. */
  readonly following: number;
}

/** What one look at the schedules of a queue found. */
interface Look {
  readonly reminder: Reminder;
  readonly now: number;
  readonly due: readonly Due[];
  /** True where some were found that cannot be followed. */
  readonly stuck: boolean;
  /** The first occurrence of the others; 0 where there is none. */
  readonly after: number;
}

/** A queue that has schedules: when they are to be looked at, epoch ms. */
export interface Reminder {
  readonly queue: string;
  readonly at: number;
}

export interface SchedulePassOptions extends SendOptions {
  readonly prefix?: string | undefined;
  /** Most tasks that one call enqueues. */
  readonly limit: number;
  /** Until when it may work, on the clock of `performance.now()`: however much was missed, queues have to be swept too. */
  readonly until: number;
  /** For tests only: the clock (epoch ms) instead of Redis's. */
  readonly now?: (() => number) | undefined;
}

/**
 * The sweep's part in schedules: it enqueues what is due. When that is, a script cannot know; so it is computed here, from
 * the schedule's record and Redis's time, and the script does it where the schedule still is as it was read.
 */
export class SchedulePass {
  readonly #transport: Transport;
  readonly #options: SchedulePassOptions;
  readonly #schedules: number;
  /** How many occurrences were enqueued. */
  scheduled = 0;
  /** True where time was up before all were. */
  more = false;
  /** Queues some schedule of which could not be followed, and why. */
  readonly failed = new Map<string, string>();
  /** Schedules of a queue that cannot be followed. They stay due, and those behind them must have their turn. */
  readonly #stuck = new Map<string, Set<string>>();

  constructor(transport: Transport, options: SchedulePassOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#schedules = Math.min(options.limit, MOST_SCHEDULES);
  }

  /**
   * Follows the schedules of queues whose reminders are due.
   * @returns the queues where something was due, which therefore have tasks
   */
  async run(reminders: readonly Reminder[]): Promise<ReadonlySet<string>> {
    const given = new Set<string>();
    let rest = reminders;
    while (rest.length > 0) {
      if (performance.now() >= this.#options.until) {
        this.more = true;
        break;
      }
      const unfinished: Reminder[] = [];
      const reminded: { queue: string; before: string; at: string }[] = [];
      const looks = await this.#look(rest.slice(0, QUEUES_PER_REQUEST));
      for (const { look, next } of await this.#occur(looks)) {
        const { queue, at: before } = look.reminder;
        if (look.due.length > 0) given.add(queue);
        // Who left something as it was, or was not alone, leaves it to the next sweep to look again.
        if (next === undefined) continue;
        const gotOn = look.due.length > 0 || look.stuck;
        if (next <= look.now && gotOn) unfinished.push(look.reminder);
        else if (!this.#stuck.has(queue))
          reminded.push({ queue, before: String(before), at: next === Infinity ? "" : String(next) });
      }
      if (reminded.length > 0) {
        const keys = { queues: registryKey(this.#options.prefix) };
        await this.#send([callOf(setReminderScript, keys, { testNow: this.#testNow() }, reminded)]);
      }
      rest = [...rest.slice(QUEUES_PER_REQUEST), ...unfinished];
    }
    return given;
  }

  async #look(reminders: readonly Reminder[]): Promise<Look[]> {
    const outcomes = await this.#send(
      reminders.map(({ queue }) => {
        const past = Math.min(this.#stuck.get(queue)?.size ?? 0, MOST_STUCK);
        const args = { testNow: this.#testNow(), limit: String(this.#schedules + past) };
        return callOf(dueSchedulesScript, this.#keys(queue), args);
      }),
    );
    const looks = await Promise.all(
      reminders.map(async (reminder, i): Promise<Look | undefined> => {
        const found = this.#read(reminder.queue, outcomes[i], dueSchedulesScript.decode);
        if (!found) return undefined;
        const { now, after } = found;
        const wanted = found.due.filter(({ name }) => !this.#stuck.get(reminder.queue)?.has(name));
        const most = Math.max(1, Math.floor(Math.min(this.#options.limit, MOST_OCCURRENCES) / wanted.length));
        const due: Due[] = [];
        for (const { name, at, record } of wanted) {
          try {
            due.push({ name, at, record, ...(await whatIsDue(record, at, now, most)) });
          } catch (error) {
            if (!(error instanceof SluiceError)) throw error;
            this.#passBy(reminder.queue, name, error.code);
          }
        }
        return { reminder, now, due, stuck: due.length < wanted.length, after };
      }),
    );
    return looks.filter((look) => look !== undefined);
  }

  /** Enqueues what is due. `next`: the next occurrence of each queue, undefined where that is not sure. */
  async #occur(looks: readonly Look[]): Promise<{ look: Look; next: number | undefined }[]> {
    const wanted = looks.filter(({ due }) => due.length > 0);
    const args = { testNow: this.#testNow() };
    const outcomes = await this.#send(
      wanted.map(({ reminder: { queue }, due }) => {
        const items = due.map(({ name, at, record, times, following }) => ({
          name,
          at: String(at),
          record,
          times: times.join(" "),
          following: String(following),
        }));
        return callOf(runSchedulesScript, this.#keys(queue), args, items);
      }),
    );
    return looks.map((look) => {
      const { queue } = look.reminder;
      const place = wanted.indexOf(look);
      const done =
        place < 0
          ? { full: false, schedules: [] }
          : this.#read(queue, outcomes[place], runSchedulesScript.decode);
      const nexts: number[] = [];
      for (const [i, { added, next }] of (done?.schedules ?? []).entries()) {
        this.scheduled += added;
        if (next === -2) this.#passBy(queue, look.due[i]?.name ?? "", "unexpected_reply");
        else nexts.push(next);
      }
      if (done?.full) this.failed.set(queue, "queue_full");
      const sure = done && !done.full && nexts.every((next) => next >= 0);
      return { look, next: sure ? Math.min(...nexts, look.after || Infinity) : undefined };
    });
  }

  /** Notes that a schedule cannot be followed, and why. */
  #passBy(queue: string, name: string, code: string): void {
    this.failed.set(queue, code);
    this.#stuck.set(queue, (this.#stuck.get(queue) ?? new Set()).add(name));
  }

  /** What a script says of a queue; a fault of that queue is noted, and does not end the pass. */
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
      return undefined;
    }
  }

  async #send(commands: readonly Command[]): Promise<CommandOutcome[]> {
    return commands.length > 0 ? this.#transport.send(commands, this.#options) : [];
  }

  #keys(queue: string) {
    return queueKeys(queue, this.#options.prefix);
  }

  #testNow(): string {
    return this.#options.now ? String(this.#options.now()) : "";
  }
}

/** Which occurrences of a schedule are due, at most so many, and which follows. at: the first that is not enqueued. */
async function whatIsDue(
  record: string,
  at: number,
  now: number,
  most: number,
): Promise<Pick<Due, "times" | "following">> {
  const plan = readPlan(record);
  return tellable(async () =>
    occurrences(await calendarOf(plan.rhythm, plan.until), plan.missed, at, now, most),
  );
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
