import { invalidArgument } from "../../errors.ts";
import { run } from "../../kernel/call.ts";
import type { ArgumentsOf } from "../../kernel/shard.ts";
import type { Adds } from "../../kernel/store.ts";
import { rhythmOf } from "./calendar.ts";
import { checkedSchedule, type NewSchedule, scheduleName } from "./new-schedule.ts";
import { encodePayload } from "../../kernel/record/codec.ts";
import { LAST_INSTANT } from "../../kernel/options/instants.ts";
import {
  LIST_OPTIONS,
  nextCursor,
  onlyOptions,
  pageArguments,
  REQUEST_OPTIONS,
} from "../../kernel/options/validation.ts";
import {
  listedSchedule,
  NEVER,
  nextOccurrence,
  occurrenceId,
  orUnsupported,
  readPlan,
  readTask,
  writeTask,
  type ListedSchedule,
  type Plan,
  type Schedule,
} from "./schedule-record.ts";
import { skippedOccurrences } from "./skipped-occurrences.ts";
import type { Values } from "../../kernel/values/values.ts";
import { listSchedulesScript } from "./schedule-scripts.ts";
import type { Enqueued, ListOptions, RequestOptions, TaskDefaults } from "../../kernel/options/types.ts";
import { type Draft, putSchedule, scheduleToken, writeSchedule } from "./write-schedule.ts";

export type SchedulePut = ListedSchedule & {
  /** False if the call replaced a schedule of the same name. */
  readonly created: boolean;
};

export type ScheduleChanged =
  | { readonly ok: true; readonly schedule: ListedSchedule }
  | { readonly ok: false; readonly code: "not_found" };

export type ScheduleResumed =
  | {
      readonly ok: true;
      readonly schedule: ListedSchedule;
      /** How many occurrences the pause has skipped, at most 100; 0 if it was not paused. */
      readonly skipped: number;
    }
  | { readonly ok: false; readonly code: "not_found" };

export type ScheduleRemoved = { readonly ok: true } | { readonly ok: false; readonly code: "not_found" };

export type ScheduleRun =
  | ({ readonly ok: true } & Enqueued)
  | { readonly ok: false; readonly code: "not_found" };

export interface SchedulePage {
  readonly schedules: readonly ListedSchedule[];
  /** For the next page; null after the last. */
  readonly cursor: string | null;
}

/** `size`: about this many schedules. */
export type ListSchedulesOptions = ListOptions;

/** What the schedules of a queue are made of. */
export interface SchedulesParts {
  readonly store: Adds;
  readonly values: Values;
  /** The defaults of the tasks. */
  readonly defaults: TaskDefaults;
}

/** The schedules of a queue. */
export class Schedules<T = unknown> {
  readonly name: string;
  readonly #store: Adds;
  readonly #values: Values;
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
    const payload = await this.#values.seal({ kind: "schedule", id: checked }, encoded, "payload");
    const task = writeTask(checked, this.#defaults, schedule, payload);
    const written = await writeSchedule(this.#store, checked, "put", options, ({ plan: before, at, now }) => {
      // Throws here, not in each sweep.
      if (this.#store.shard(0).isPart && schedule.group !== undefined)
        occurrenceId(checked, 0, schedule.group);
      const { rhythm, same } = rhythmOf(recurrence, before?.rhythm, now);
      const plan: Plan = {
        rhythm,
        until,
        missed,
        pausedAt: pausedSince(before, paused, now),
        createdAt: before?.createdAt ?? now,
        lastAt: before?.lastAt,
      };
      const kept = same && at > 0 && at <= (until ?? LAST_INSTANT);
      const next = kept ? at : nextOccurrence(plan, now);
      if (next === NEVER && !same) return undefined;
      return { plan, task, at: plan.pausedAt !== undefined ? NEVER : next };
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
    const payload = (await this.#values.open({ kind: "schedule", id: found.name }, task.payload)) as T;
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
  async resume(name: string, options: RequestOptions = {}): Promise<ScheduleResumed> {
    let skipped = 0;
    const changed = await this.#set(name, "resume", options, ({ plan, before, now }) => {
      skipped = orUnsupported(() => skippedOccurrences(before, now)).count;
      return { plan, at: orUnsupported(() => nextOccurrence(plan, now)) };
    });
    return changed.ok ? { ...changed, skipped } : changed;
  }

  /**
   * Enqueues a task of the schedule now, as an occurrence does, also while it is paused. The next occurrence stays as
   * it is. Two requests.
   * @returns the task's id. `created` is false if an occurrence of the same millisecond was known already
   * @throws {SluiceError} as `enqueue`
   * @example await schedules.run("daily")
   */
  async run(name: string, options: RequestOptions = {}): Promise<ScheduleRun> {
    onlyOptions(options, REQUEST_OPTIONS);
    const args = { name: scheduleName(name), cursor: "", size: "" };
    const [found] = (await this.#list(args, options)).schedules;
    if (!found) return { ok: false, code: "not_found" };
    const { runSchedule } = await import("./run-schedule.ts");
    return { ok: true, ...(await runSchedule(this.#store, found, options)) };
  }

  /**
   * Removes a schedule. Tasks that it has enqueued stay. One request.
   * @throws {SluiceError}
   */
  async remove(name: string, options: RequestOptions = {}): Promise<ScheduleRemoved> {
    onlyOptions(options, REQUEST_OPTIONS);
    const args = {
      token: await scheduleToken(this.#store, "remove", name, options),
      name: scheduleName(name),
      was: "*",
      record: "",
      task: "",
      at: "0",
    };
    const reply = await this.#store.over(() => putSchedule(this.#store, args, options), options);
    return reply.status === "ok" && reply.existed ? { ok: true } : { ok: false, code: "not_found" };
  }

  #list(args: ArgumentsOf<typeof listSchedulesScript>, options: RequestOptions) {
    const store = this.#store;
    const read = () => run(store.queue.transport, store.shard(0).call(listSchedulesScript, args), options);
    return store.over(read, options);
  }

  async #set(
    name: string,
    verb: "pause" | "resume",
    options: RequestOptions,
    change: (stored: { plan: Plan; before: Plan; now: number }) => Pick<Draft, "plan" | "at">,
  ): Promise<ScheduleChanged> {
    onlyOptions(options, REQUEST_OPTIONS);
    const paused = verb === "pause";
    const written = await writeSchedule(
      this.#store,
      scheduleName(name),
      verb,
      options,
      ({ plan, at, now }) => {
        if (!plan) return undefined;
        const pausedAt = pausedSince(plan, paused, now);
        if (plan.pausedAt === pausedAt) return { plan, at, task: "" };
        return { task: "", ...change({ plan: { ...plan, pausedAt }, before: plan, now }) };
      },
    );
    return written ? { ok: true, schedule: written.schedule } : { ok: false, code: "not_found" };
  }
}

/**
 * Since when a schedule is paused after a change; undefined if it is not.
 * @param paused what the change asks for; undefined to leave it as it is
 */
function pausedSince(before: Plan | undefined, paused: boolean | undefined, now: number): number | undefined {
  if (paused === false) return undefined;
  return before?.pausedAt ?? (paused ? now : undefined);
}
