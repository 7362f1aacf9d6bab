import { callOf } from "../redis/binding.ts";
import { settingItem } from "../core/settings-record.ts";
import {
  LIST_OPTIONS,
  onlyOptions,
  recordName,
  REQUEST_OPTIONS,
  trueOrFalse,
  unescaped,
  wholeNumber,
} from "../core/validation.ts";
import { MAX_BATCH } from "../core/limits.ts";
import { writeCursor } from "./filters.ts";
import {
  configureScript,
  deleteQueueScript,
  listGroupsScript,
  settingsScript,
  statisticsScript,
} from "../redis/operate-scripts.ts";
import { lastReply } from "../redis/replies.ts";
import { sendInOrder } from "../redis/transport.ts";
import { forgetNote, registration } from "../tasks/registration.ts";
import { unregisterScript } from "../redis/sweep-scripts.ts";
import {
  groupChanges,
  queueChanges,
  groupSettings,
  queueSettings,
  type SettingItem,
  type GroupChanges,
  type GroupSettings,
  type QueueChanges,
  type QueueSettings,
} from "./settings.ts";
import { readStatistics, type QueueStatistics } from "./statistics.ts";
import type { ListOptions, RequestOptions } from "../core/types.ts";
import { WorkerOperator } from "./worker-operator.ts";

/** The settings of a group, and how many tasks it has. */
export interface GroupInfo extends GroupSettings {
  readonly queue: string;
  readonly group: string;
  /** Tasks that can be dequeued. */
  readonly ready: number;
  readonly working: number;
  /** Tasks that wait for the limits of the group. */
  readonly limited: number;
}

export interface GroupPage {
  readonly groups: readonly GroupInfo[];
  /** For the next page; null after the last. */
  readonly cursor: string | null;
}

/** `still_working`: nothing was deleted, because `working` tasks are leased. */
export type QueueDeleted =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: "still_working"; readonly working: number };

/**
 * Operates a queue: pauses it, changes its settings, reads statistics, deletes it. It also has the methods of
 * {@link WorkerOperator} and {@link TaskOperator}. Settings are in Redis. All instances follow a pause and
 * limits from their next request on; single enqueues follow `maxPending`, `events` and `statistics` within a
 * minute.
 * @example
 * const operator = new Operator("emails", { transport: upstash(env) });
 * await operator.configure({ maxWorking: 10, rate: { most: 5, per: "1s" } });
 */
export class Operator extends WorkerOperator {
  /**
   * Pauses the queue: dequeues return no task until {@link resume}. All other calls work, settles included.
   * @returns the settings of the queue
   * @throws {SluiceError}
   */
  async pause(options: RequestOptions = {}): Promise<QueueSettings> {
    return this.#configureQueue([settingItem("paused", "1")], options);
  }

  /**
   * Resumes the queue after {@link pause}.
   * @returns the settings of the queue
   * @throws {SluiceError}
   */
  async resume(options: RequestOptions = {}): Promise<QueueSettings> {
    return this.#configureQueue([settingItem("paused", "")], options);
  }

  /**
   * Changes settings of the queue. Limits apply from the next dequeue on. If more tasks are working than a
   * new limit allows, no more are delivered until enough have ended. Producers of other instances follow
   * `maxPending`, `events` and `statistics` within a minute.
   * @param changes null unsets a setting; an absent one is unchanged
   * @returns the settings after the change
   * @throws {SluiceError} `invalid_argument`; nothing was changed
   * @example await operator.configure({ maxPending: 10_000, rate: null })
   */
  async configure(changes: QueueChanges, options: RequestOptions = {}): Promise<QueueSettings> {
    return this.#configureQueue(queueChanges(changes), options);
  }

  /**
   * Changes settings of a group. If a limit is raised, tasks that waited for it become ready: a hundred at
   * once, the others with the next dequeues or sweeps.
   * @param name of the group, named like an id
   * @param changes null unsets a setting; an absent one is unchanged
   * @returns the settings after the change
   * @throws {SluiceError} `invalid_argument`; nothing was changed
   */
  async configureGroup(
    name: string,
    changes: GroupChanges,
    options: RequestOptions = {},
  ): Promise<GroupSettings> {
    const args = {
      testNow: this.testNow(),
      token: await this.token("configure", options),
      group: recordName(name, "group"),
      wake: this.wakeWindow,
    };
    const { settings, wake } = await this.run(configureScript, args, groupChanges(changes), options);
    if (wake) await this.waker?.wake(this.name);
    return groupSettings(settings);
  }

  /**
   * Reads the settings of the queue. One request.
   * @throws {SluiceError}
   */
  async settings(options: RequestOptions = {}): Promise<QueueSettings> {
    return queueSettings((await this.run(settingsScript, { group: "" }, [], options)).settings);
  }

  /**
   * Reads the settings of a group, and counts its tasks. One request.
   * @param name of the group
   * @throws {SluiceError}
   */
  async groupSettings(name: string, options: RequestOptions = {}): Promise<GroupInfo> {
    const { settings, counts } = await this.run(
      settingsScript,
      { group: recordName(name, "group") },
      [],
      options,
    );
    return { queue: this.name, group: name, ...groupSettings(settings), ...counts };
  }

  /**
   * Reads a page of the groups that have waiting tasks, with their settings and counts: first the groups with
   * ready tasks, by name, then those all of whose waiting tasks wait for limits. Groups that have only working
   * or delayed tasks, or only settings, are not listed. A page can be short or empty although the cursor is
   * not null. If tasks move between pages, a group may be missed or come twice. One request.
   * @param options.size at most this many groups, 1 to 1,000. @default 100
   * @throws {SluiceError}
   * @example const { groups, cursor } = await operator.groups()
   */
  async groups(options: ListOptions = {}): Promise<GroupPage> {
    onlyOptions(options, LIST_OPTIONS);
    const args = {
      cursor: writeCursor(options.cursor, "groups"),
      size: String(wholeNumber(options.size ?? 100, "size", 1, MAX_BATCH)),
    };
    const page = await this.run(listGroupsScript, args, [], options);
    return {
      groups: page.groups.map(({ group, settings, counts }) => {
        return { queue: this.name, group: unescaped(group), ...groupSettings(settings), ...counts };
      }),
      cursor: page.cursor || null,
    };
  }

  /**
   * Reads the counts of events by the minute for the last hour, and rates to scale by. One request.
   * @throws {SluiceError}
   */
  async statistics(options: RequestOptions = {}): Promise<QueueStatistics> {
    const found = await this.run(statisticsScript, { testNow: this.testNow() }, [], options);
    return readStatistics(this.name, found);
  }

  /**
   * Deletes the queue: tasks, dead letters, results, settings, schedules, and its entry in the registry. An
   * enqueue creates it again; producers of other instances may take a minute to register it. Two requests.
   * @param options.force deletes the queue even if tasks are working; their holders then get `lease_lost`.
   *   @default false
   * @throws {SluiceError}
   */
  async deleteQueue(
    options: RequestOptions & { readonly force?: boolean | undefined } = {},
  ): Promise<QueueDeleted> {
    onlyOptions(options, ["force", ...REQUEST_OPTIONS]);
    const args = {
      testNow: this.testNow(),
      token: await this.token("delete", options),
      force: trueOrFalse(options.force ?? false, "force") ? "1" : "",
    };
    const { deletedAt, working } = await this.run(deleteQueueScript, args, [], options);
    if (working !== undefined) return { ok: false, code: "still_working", working };
    // A separate request: if the first is refused, the queue must stay registered, or it would not be swept.
    await this.run(unregisterScript, { since: String(deletedAt) }, [{ queue: this.name }], options);
    forgetNote(this.transport, this.keys);
    return { ok: true };
  }

  async #configureQueue(changes: readonly SettingItem[], options: RequestOptions): Promise<QueueSettings> {
    // Registers a queue without tasks too, and makes producers of this instance follow the settings at once.
    const note = registration(this.transport, this.keys, this.name, this.testNow());
    const token = await this.token("configure", options);
    const args = { testNow: this.testNow(), token, group: "", wake: this.wakeWindow };
    const call = callOf(configureScript, this.keys, args, changes);
    const outcomes = await sendInOrder(this.transport, [...note.commands, call], options);
    const reply = configureScript.decode(lastReply(outcomes));
    const settings = queueSettings(reply.settings);
    const concernsEnqueues = settings.maxPending !== null || settings.events || settings.statistics;
    if (outcomes[0] && "reply" in outcomes[0]) note.done(concernsEnqueues);
    if (reply.wake) await this.waker?.wake(this.name);
    return settings;
  }
}
