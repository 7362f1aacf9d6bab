import { invalidArgument } from "../../errors.ts";
import { type Call, run } from "../../kernel/call.ts";
import { tokenOf } from "../../kernel/call-token.ts";
import type { ArgumentsOf } from "../../kernel/shard.ts";
import type { Adds } from "../../kernel/store.ts";
import { rhythmOf } from "./calendar.ts";
import { checkedSchedule, type NewSchedule, scheduleName } from "./new-schedule.ts";
import { encodePayload } from "../../queue/core/codec.ts";
import { LAST_INSTANT } from "../../queue/core/instants.ts";
import {
  LIST_OPTIONS,
  nextCursor,
  onlyOptions,
  pageArguments,
  REQUEST_OPTIONS,
  requestKey,
} from "../../queue/core/validation.ts";
import { sendInOrder } from "../../queue/redis/transport.ts";
import {
  listedSchedule,
  NEVER,
  nextOccurrence,
  occurrenceId,
  orUnsupported,
  readPlan,
  readTask,
  writePlan,
  writeTask,
  type ListedSchedule,
  type Plan,
  type Schedule,
} from "./schedule-record.ts";
import { encryptValue, type ValuesQueue } from "../../queue/values/encryption.ts";
import { decryptValue } from "../../queue/values/decrypt.ts";
import {
  listSchedulesScript,
  putScheduleScript,
  scheduleNotReturned,
  setReminderScript,
} from "../../queue/redis/schedule-scripts.ts";
import type { ListOptions, RequestOptions, TaskDefaults } from "../../queue/core/types.ts";

export type SchedulePut = ListedSchedule & {
  /** False if the call replaced a schedule of the same name. */
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

/** `size`: about this many schedules. */
export type ListSchedulesOptions = ListOptions;

/** A schedule as Redis has it. */
interface StoredSchedule {
  /** Undefined if no schedule has the name. */
  readonly plan: Plan | undefined;
  /** Its next occurrence, epoch ms; 0 if there is none. */
  readonly at: number;
  /** Redis's time, epoch ms. */
  readonly now: number;
}

/** What to store for a schedule. */
interface Draft {
  readonly plan: Plan;
  /** As {@link writeTask} writes it; empty to keep the stored task. */
  readonly task: string;
  /** The next occurrence, epoch ms. */
  readonly at: number;
}

/** What the schedules of a queue are made of. */
export interface SchedulesParts {
  readonly store: Adds;
  readonly values: ValuesQueue;
  /** The defaults of the tasks. */
  readonly defaults: TaskDefaults;
}

/** The schedules of a queue. */
export class Schedules<T = unknown> {
  readonly name: string;
  readonly #store: Adds;
  readonly #values: ValuesQueue;
  /** Those of a declared queue. */
  readonly #defaults: TaskDefaults;

  constructor({ store, values, defaults }: SchedulesParts) {
    this.name = store.queue.name;
    this.#store = store;
    this.#values = values;
    this.#defaults = defaults;
  }

  /**
   * Creates a schedule, or replaces the one with the same name. Two requests, and one more each time another
   * caller writes the same schedule meanwhile.
   *
   * A replaced schedule keeps its next occurrence if its cron and time zone, or its interval and `from`, are
   * unchanged; a `from` that is not given is unchanged. Otherwise, and if it is resumed, the next occurrence
   * is the first from now on, by Redis's time.
   * @param name 1 to 100 visible ASCII characters, beginning with a letter or a digit
   * @param schedule `cron` or `every`, the payload, and options of the task
   * @returns the schedule as stored, and whether it was created
   * @throws {SluiceError} `invalid_argument`, also for a new recurrence that never occurs, and in a queue with
   *   partitions for a name that has something else in braces than the group; `too_large`; `queue_full` if Redis
   *   has no room
   * @example await schedules.put("cleanup", { every: "1h", payload: null, maxAttempts: 1 })
   */
  async put(name: string, schedule: NewSchedule<T>, options: RequestOptions = {}): Promise<SchedulePut> {
    const checked = scheduleName(name);
    onlyOptions(options, REQUEST_OPTIONS);
    const { recurrence, missed, until, paused } = checkedSchedule(schedule);
    const encoded = encodePayload(schedule.payload, "payload");
    const payload = await encryptValue(this.#values, { kind: "schedule", id: checked }, encoded, "payload");
    const task = writeTask(checked, this.#defaults, schedule, payload);
    const written = await this.#write(checked, "put", options, ({ plan: before, at, now }) => {
      // Throws here, not in each sweep.
      if (this.#store.shard(0).isPart && schedule.group !== undefined)
        occurrenceId(checked, 0, schedule.group);
      const { rhythm, same } = rhythmOf(recurrence, before?.rhythm, now);
      const plan: Plan = {
        rhythm,
        until,
        missed,
        paused: paused ?? before?.paused ?? false,
        createdAt: before?.createdAt ?? now,
        lastAt: before?.lastAt,
      };
      const kept = same && at > 0 && at <= (until ?? LAST_INSTANT);
      const next = kept ? at : nextOccurrence(plan, now);
      if (next === NEVER && !same) return undefined;
      return { plan, task, at: plan.paused ? NEVER : next };
    });
    if (!written) throw invalidArgument("schedule", "must occur at least once from now on");
    return { ...written.schedule, created: !written.existed };
  }

  /**
   * Reads a schedule with its task. One request.
   * @returns null if no schedule has the name
   * @throws {SluiceError} `undecryptable`, or a fault of the transport
   */
  async get(name: string, options: RequestOptions = {}): Promise<Schedule<T> | null> {
    onlyOptions(options, REQUEST_OPTIONS);
    const args = { name: scheduleName(name), cursor: "", size: "" };
    const [found] = (await this.#list(args, options)).schedules;
    if (!found) return null;
    const task = readTask(found.task);
    const context = { kind: "schedule", queue: this.name, id: found.name } as const;
    const payload = (await decryptValue(this.#values.encryption, task.payload, context)) as T;
    return { ...listedSchedule(this.name, found.name, readPlan(found.record), found.at), ...task, payload };
  }

  /**
   * Reads a page of the schedules, without their tasks, in no order. If the list changes between pages, a
   * schedule may come twice. No schedule that stays is missed. One request.
   * @throws {SluiceError}
   */
  async list(options: ListSchedulesOptions = {}): Promise<SchedulePage> {
    onlyOptions(options, LIST_OPTIONS);
    const args = { name: "", ...pageArguments(options) };
    const { cursor, schedules } = await this.#list(args, options);
    return {
      schedules: schedules.map(({ name, record, at }) =>
        listedSchedule(this.name, name, readPlan(record), at),
      ),
      cursor: nextCursor(cursor),
    };
  }

  /**
   * Pauses a schedule until it is resumed. A schedule that is paused stays as it is. Two requests, as
   * {@link put}.
   * @throws {SluiceError}
   */
  async pause(name: string, options: RequestOptions = {}): Promise<ScheduleChanged> {
    return this.#set(name, "pause", options, ({ plan }) => ({ plan, at: NEVER }));
  }

  /**
   * Resumes a schedule from now on; occurrences during the pause are not enqueued. A schedule that is not
   * paused stays as it is. Two requests, as {@link put}.
   * @throws {SluiceError}
   */
  async resume(name: string, options: RequestOptions = {}): Promise<ScheduleChanged> {
    return this.#set(name, "resume", options, ({ plan, now }) => ({
      plan,
      at: orUnsupported(() => nextOccurrence(plan, now)),
    }));
  }

  /**
   * Removes a schedule. Tasks that it has enqueued stay. One request.
   * @throws {SluiceError}
   */
  async remove(name: string, options: RequestOptions = {}): Promise<ScheduleRemoved> {
    onlyOptions(options, REQUEST_OPTIONS);
    const args = {
      token: await this.#tokenOf("remove", name, options),
      name: scheduleName(name),
      was: "*",
      record: "",
      task: "",
      at: "0",
    };
    const store = this.#store;
    const reply = await store.over(() => this.#put(args, options), options);
    return reply.status === "ok" && reply.existed ? { ok: true } : { ok: false, code: "not_found" };
  }

  /** The name is part of the token: the same idempotency key with another name is another call. */
  async #tokenOf(verb: string, name: string, options: RequestOptions): Promise<string> {
    return tokenOf(this.#store.queue, `${verb} ${name}`, options);
  }

  #list(args: ArgumentsOf<typeof listSchedulesScript>, options: RequestOptions) {
    const store = this.#store;
    const read = () => run(store.queue.transport, store.shard(0).call(listSchedulesScript, args), options);
    return store.over(read, options);
  }

  #put(args: ArgumentsOf<typeof putScheduleScript>, options: RequestOptions) {
    const store = this.#store;
    return run(store.queue.transport, store.shard(0).call(putScheduleScript, args), options);
  }

  async #set(
    name: string,
    verb: "pause" | "resume",
    options: RequestOptions,
    change: (stored: { plan: Plan; now: number }) => Pick<Draft, "plan" | "at">,
  ): Promise<ScheduleChanged> {
    onlyOptions(options, REQUEST_OPTIONS);
    const paused = verb === "pause";
    const written = await this.#write(scheduleName(name), verb, options, ({ plan, at, now }) => {
      if (!plan) return undefined;
      if (plan.paused === paused) return { plan, at, task: "" };
      return { task: "", ...change({ plan: { ...plan, paused }, now }) };
    });
    return written ? { ok: true, schedule: written.schedule } : { ok: false, code: "not_found" };
  }

  /**
   * Reads a schedule, and writes the draft that `decide` makes of it. If another caller changes the schedule
   * meanwhile, it begins again: a failed round means that the other caller succeeded.
   * @param decide returns undefined to write nothing. A call with an idempotency key records that in Redis,
   *   so that a late copy of it writes nothing either
   * @returns undefined if neither this call nor an earlier copy of it wrote anything
   */
  async #write(
    name: string,
    verb: "put" | "pause" | "resume",
    options: RequestOptions,
    decide: (stored: StoredSchedule) => Draft | undefined,
  ): Promise<{ schedule: ListedSchedule; existed: boolean } | undefined> {
    // One for all copies: the first may have run before the queue got partitions.
    const token = await this.#tokenOf(verb, name, options);
    return this.#store.over(() => this.#writeOnce(name, verb, token, options, decide), options);
  }

  async #writeOnce(
    name: string,
    verb: "put" | "pause" | "resume",
    token: string,
    options: RequestOptions,
    decide: (stored: StoredSchedule) => Draft | undefined,
  ): Promise<{ schedule: ListedSchedule; existed: boolean } | undefined> {
    const store = this.#store;
    await store.shards(options);
    const call = { token, name };
    const read = { ...call, was: "?", record: "", task: "", at: "" };
    const hasKey = requestKey(options) !== undefined;
    // A pause or resume that finds no schedule is refused by the read itself. A put creates one.
    const noted = hasKey && verb !== "put" ? token : "";
    let reply = await this.#put({ ...read, token: noted }, options);
    for (;;) {
      if (reply.status !== "changed") throw scheduleNotReturned();
      const { record: was, at, now } = reply;
      const draft = decide({ plan: was === "" ? undefined : readPlan(was), at, now });
      if (!draft) {
        if (hasKey && verb === "put") await this.#put({ ...read, was: "!" }, options);
        return undefined;
      }
      const record = writePlan(draft.plan);
      const args = { ...call, was, record, task: draft.task, at: String(draft.at) };
      // Set before the schedule, so that it is never without a reminder; and after it, because a sweep may
      // have changed the reminder meanwhile.
      const shard = store.shard(0);
      const reminder = { queue: shard.name, before: "", at: String(draft.at) };
      const setReminder: Call<unknown> = shard.call(setReminderScript, {}, [reminder]);
      const put = shard.call(putScheduleScript, args);
      const commands = [setReminder, put, setReminder].map(({ command }) => command);
      const outcomes = await sendInOrder(store.queue.transport, commands, options);
      reply = put.read(outcomes[1]);
      if (reply.status === "changed") continue;
      for (const index of [0, 2]) setReminder.read(outcomes[index]);
      if (reply.status === "refused") return undefined;
      if (reply.at < NEVER) await store.ready({ scheduleAt: reply.at });
      return { schedule: listedSchedule(this.name, name, draft.plan, reply.at), existed: reply.existed };
    }
  }
}
