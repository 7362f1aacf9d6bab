import { invalidArgument, SluiceError } from "../../errors.ts";
import { callOf } from "../redis/binding.ts";
import { readRecurrence, RECURRENCE, rhythmOf, type Recurrence } from "./calendar.ts";
import { encodeValue } from "../core/codec.ts";
import { QueueBase } from "../tasks/queue-base.ts";
import {
  LAST_INSTANT,
  onlyOptions,
  REQUEST_OPTIONS,
  requestKey,
  scanCursor,
  taskId,
  trueOrFalse,
  wholeNumber,
} from "../core/validation.ts";
import { replyAt } from "../redis/replies.ts";
import {
  listed,
  NEVER,
  nextOf,
  readPlan,
  readTask,
  SCHEDULED_OPTIONS,
  tellable,
  writePlan,
  writeTask,
  type ListedSchedule,
  type Plan,
  type Schedule,
  type ScheduledOptions,
} from "./schedule-record.ts";
import { opened, sealed } from "../values/encryption.ts";
import {
  notRead,
  setReminderScript,
  putScheduleScript,
  listSchedulesScript,
} from "../redis/schedule-scripts.ts";
import type { RequestOptions } from "../core/types.ts";

/** Longest name of a schedule: with the time behind it, it has to fit into an id. */
export const MAX_SCHEDULE_NAME = 100;

const NEW_SCHEDULE = [...RECURRENCE, ...SCHEDULED_OPTIONS, "payload", "missed", "until", "paused"];

/** What recurs, and when. */
export type NewSchedule<T> = Recurrence &
  ScheduledOptions & {
    /** Of every occurrence: anything that JSON can express, or a `Uint8Array`; at most 1 MiB. */
    readonly payload: T;
    /** What becomes of occurrences that no sweep came for in time: the last of them, or each. @default "last" */
    readonly missed?: "last" | "all" | undefined;
    /** Instant (epoch ms) after which it does not occur any more. @default without end */
    readonly until?: number | undefined;
    /** True pauses it, false resumes it. @default as it is; a new one is not paused */
    readonly paused?: boolean | undefined;
  };

export type SchedulePut = ListedSchedule & {
  /** False where there was a schedule of that name, which is now as told. */
  readonly created: boolean;
};

export type ScheduleChanged =
  | { readonly ok: true; readonly schedule: ListedSchedule }
  | { readonly ok: false; readonly code: "not_found" };

export type ScheduleRemoved = { readonly ok: true } | { readonly ok: false; readonly code: "not_found" };

export interface SchedulePage {
  readonly schedules: readonly ListedSchedule[];
  /** For the next page; null after the last. */
  readonly cursor: string | null;
}

export interface ListSchedulesOptions extends RequestOptions {
  /** The cursor of the page before. @default the first page */
  readonly cursor?: string | undefined;
  /** About this many schedules, 1 to 1,000. @default 100 */
  readonly size?: number | undefined;
}

/** A schedule as a request found it. */
interface Found {
  /** Undefined where there is none. */
  readonly plan: Plan | undefined;
  /** Its next occurrence; 0 where there is none. */
  readonly at: number;
  /** Redis's time, epoch ms. */
  readonly now: number;
}

/** What is to stand there instead. */
interface Draft {
  readonly plan: Plan;
  /** As {@link writeTask} writes it; empty where it stays as it is. */
  readonly task: string;
  readonly at: number;
}

/**
 * The schedules of a queue. At each occurrence of one its task is enqueued, by the first sweep from then on, and exactly
 * once however many sweeps run. The task's id is `<name>.<epoch ms of the occurrence>`; a task that is known by that id
 * already counts as it. Its headers have the name as `schedule`, and that time as `scheduled-at`.
 */
export class Schedules<T = unknown> extends QueueBase {
  /**
   * Creates a schedule, or makes the one of that name as told. It keeps its next occurrence where cron and zone, or
   * interval and `from`, are what they were (a `from` that is not given is); otherwise, and where it is resumed, the first
   * from now on is next, by Redis's time. Two requests, more where others write the same schedule meanwhile.
   * @param name 1 to 100 visible ASCII characters, beginning with a letter or a digit
   * @throws {SluiceError} `invalid_argument`, also for a recurrence, other than before, that would never occur; `too_large`; `queue_full` where Redis has
   *   no room
   */
  async put(name: string, schedule: NewSchedule<T>, options: RequestOptions = {}): Promise<SchedulePut> {
    const checked = scheduleName(name);
    onlyOptions(options, REQUEST_OPTIONS);
    onlyOptions(schedule, NEW_SCHEDULE, "schedule.");
    const recurrence = readRecurrence(schedule);
    const missed = oneOfMissed(schedule.missed);
    const until =
      schedule.until === undefined ? undefined : wholeNumber(schedule.until, "until", 0, LAST_INSTANT);
    const wanted = schedule.paused === undefined ? undefined : trueOrFalse(schedule.paused, "paused");
    const encoded = encodeValue(schedule.payload, "payload");
    const payload = await sealed(this.values, { kind: "schedule", id: checked }, encoded, "payload");
    const task = writeTask(checked, schedule, payload);
    const written = await this.#write(checked, "put", options, async ({ plan: before, at, now }) => {
      const { rhythm, same } = rhythmOf(recurrence, before?.rhythm, now);
      const plan: Plan = {
        rhythm,
        until,
        missed,
        paused: wanted ?? before?.paused ?? false,
        createdAt: before?.createdAt ?? now,
        lastAt: before?.lastAt,
      };
      const kept = same && at > 0 && at <= (until ?? LAST_INSTANT);
      const next = kept ? at : await nextOf(plan, now);
      if (next === NEVER && !same) return undefined;
      return { plan, task, at: plan.paused ? NEVER : next };
    });
    if (!written) throw invalidArgument("schedule", "must occur once at least from now on");
    return { ...written.schedule, created: !written.existed };
  }

  /**
   * A schedule with the task that recurs, or null where there is none of that name. One request.
   * @throws {SluiceError}
   */
  async get(name: string, options: RequestOptions = {}): Promise<Schedule<T> | null> {
    onlyOptions(options, REQUEST_OPTIONS);
    const args = { name: scheduleName(name), cursor: "", size: "" };
    const [found] = (await this.run(listSchedulesScript, args, [], options)).schedules;
    if (!found) return null;
    const task = readTask(found.task);
    const place = { kind: "schedule", queue: this.name, id: found.name } as const;
    const payload = (await opened(this.values.encryption, task.payload, place)) as T;
    return { ...listed(this.name, found.name, readPlan(found.record), found.at), ...task, payload };
  }

  /**
   * A page of the schedules, without their tasks, in no order. One may come twice where the list changes between pages;
   * none that stays is missed. One request.
   * @throws {SluiceError}
   */
  async list(options: ListSchedulesOptions = {}): Promise<SchedulePage> {
    onlyOptions(options, ["cursor", "size", ...REQUEST_OPTIONS]);
    const { cursor = "0", size = 100 } = options;
    const args = {
      name: "",
      cursor: scanCursor(cursor),
      size: String(wholeNumber(size, "size", 1, 1_000)),
    };
    const page = await this.run(listSchedulesScript, args, [], options);
    return {
      schedules: page.schedules.map(({ name, record, at }) => listed(this.name, name, readPlan(record), at)),
      cursor: page.cursor === "0" ? null : page.cursor,
    };
  }

  /**
   * Makes it not occur until it is resumed. To pause a paused one does nothing. Two requests, as {@link put}.
   * @throws {SluiceError}
   */
  async pause(name: string, options: RequestOptions = {}): Promise<ScheduleChanged> {
    return this.#set(name, "pause", options, ({ plan }) => ({ plan, at: NEVER }));
  }

  /**
   * Makes it occur again, from now on: what it missed while it was paused is not made up for. To resume one that is not
   * paused does nothing. Two requests, as {@link put}.
   * @throws {SluiceError}
   */
  async resume(name: string, options: RequestOptions = {}): Promise<ScheduleChanged> {
    return this.#set(name, "resume", options, async ({ plan, now }) => ({
      plan,
      at: await tellable(() => nextOf(plan, now)),
    }));
  }

  /**
   * Removes it. Tasks that it has enqueued stay. One request.
   * @throws {SluiceError}
   */
  async remove(name: string, options: RequestOptions = {}): Promise<ScheduleRemoved> {
    onlyOptions(options, REQUEST_OPTIONS);
    const args = {
      testNow: this.testNow(),
      token: await this.#tokenOf("remove", name, options),
      name: scheduleName(name),
      was: "*",
      record: "",
      task: "",
      at: "0",
    };
    const told = await this.run(putScheduleScript, args, [], options);
    return told.status === "ok" && told.existed ? { ok: true } : { ok: false, code: "not_found" };
  }

  /** A key that comes again with another name is no copy. */
  #tokenOf(verb: string, name: string, options: RequestOptions): Promise<string> {
    return this.token(`${verb} ${name}`, options);
  }

  async #set(
    name: string,
    verb: "pause" | "resume",
    options: RequestOptions,
    then: (found: {
      plan: Plan;
      now: number;
    }) => Pick<Draft, "plan" | "at"> | Promise<Pick<Draft, "plan" | "at">>,
  ): Promise<ScheduleChanged> {
    onlyOptions(options, REQUEST_OPTIONS);
    const paused = verb === "pause";
    const written = await this.#write(scheduleName(name), verb, options, async ({ plan, at, now }) => {
      if (!plan) return undefined;
      if (plan.paused === paused) return { plan, at, task: "" };
      return { task: "", ...(await then({ plan: { ...plan, paused }, now })) };
    });
    return written ? { ok: true, schedule: written.schedule } : { ok: false, code: "not_found" };
  }

  /**
   * Reads a schedule, and writes what `decide` makes of it. If somebody has changed it meanwhile, begins again: each
   * round that fails is another caller's success.
   * @param decide returns undefined if nothing is to be written. A call with an idempotency key then notes that in
   *   Redis, so that a late copy writes nothing either
   * @returns undefined if nothing was written, by this call or by the first copy of it
   */
  async #write(
    name: string,
    verb: "put" | "pause" | "resume",
    options: RequestOptions,
    decide: (found: Found) => Promise<Draft | undefined>,
  ): Promise<{ schedule: ListedSchedule; existed: boolean } | undefined> {
    const testNow = this.testNow();
    const call = { testNow, token: await this.#tokenOf(verb, name, options), name };
    const read = { ...call, was: "?", record: "", task: "", at: "" };
    const hasKey = requestKey(options) !== undefined;
    // A pause or resume that finds no schedule is refused by the read itself. A put creates one.
    const token = hasKey && verb !== "put" ? call.token : "";
    let reply = await this.run(putScheduleScript, { ...read, token }, [], options);
    for (;;) {
      if (reply.status !== "changed") throw notRead();
      const { record: was, at, now } = reply;
      const draft = await decide({ plan: was === "" ? undefined : readPlan(was), at, now });
      if (!draft) {
        if (hasKey && verb === "put") await this.run(putScheduleScript, { ...read, was: "!" }, [], options);
        return undefined;
      }
      const record = writePlan(draft.plan);
      const args = { ...call, was, record, task: draft.task, at: String(draft.at) };
      // Before, so that no schedule is without a reminder; and after, for a sweep may have been there in between.
      const reminder = { queue: this.name, before: "", at: String(draft.at) };
      const remind = callOf(setReminderScript, this.keys, { testNow }, [reminder]);
      const outcomes = await this.transport.send(
        [remind, callOf(putScheduleScript, this.keys, args), remind],
        options,
      );
      reply = putScheduleScript.decode(replyAt(outcomes, 1));
      if (reply.status === "changed") continue;
      for (const place of [0, 2]) setReminderScript.decode(replyAt(outcomes, place));
      if (reply.status === "refused") return undefined;
      return { schedule: listed(this.name, name, draft.plan, reply.at), existed: reply.existed };
    }
  }
}

function scheduleName(name: unknown): string {
  const checked = taskId(name, "name");
  if (checked.length > MAX_SCHEDULE_NAME) {
    throw invalidArgument("name", `must have at most ${MAX_SCHEDULE_NAME} characters`);
  }
  return checked;
}

function oneOfMissed(value: unknown = "last"): "last" | "all" {
  if (value === "last" || value === "all") return value;
  throw new SluiceError("invalid_argument", 'missed must be "last" or "all"', "missed");
}
