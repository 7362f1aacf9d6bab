import { callOf } from "../redis/binding.ts";
import { slotOf } from "../core/partition-slots.ts";
import { rebalanceShares } from "../partitions/shares.ts";
import { SHARED_LETTERS, settingItem } from "../core/settings-record.ts";
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
import { cursorAfter, readPartitionCursor } from "./partition-cursor.ts";
import { deleteQueueScript, listGroupsScript, statisticsScript } from "../redis/operate-scripts.ts";
import { configureScript, settingsScript } from "../redis/settings-scripts.ts";
import { replyAt } from "../redis/replies.ts";
import { forgetNote, registrations, sendNoted } from "../tasks/registration.ts";
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
import { readStatistics, sumOfStatistics, type QueueStatistics } from "./statistics.ts";
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
 * {@link WorkerOperator}, {@link PartitionOperator} and {@link TaskOperator}. Settings are in Redis. All
 * instances follow a pause and limits from their next request on; single enqueues follow `maxPending`, `events`
 * and `statistics` within a minute.
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
    const items = groupChanges(changes);
    return this.overPartitions(() => this.#configureGroup(name, args, items, options), options);
  }

  async #configureGroup(
    name: string,
    args: Parameters<typeof callOf<typeof configureScript>>[2],
    items: readonly SettingItem[],
    options: RequestOptions,
  ): Promise<GroupSettings> {
    // All partitions get them, because the group's slot may change hands later.
    const { partitions, replies } = await this.changeAll((added) => {
      const calls = added.map((partition) => ({ partition, args, items }));
      return this.runIn(configureScript, calls, options, true);
    }, options);
    if (replies.some(({ wake }) => wake)) await this.waker?.wake(this.name);
    const owner = await this.#ownerOfGroup(name, options);
    return groupSettings(replies[partitions.indexOf(owner)]?.settings ?? {});
  }

  async #ownerOfGroup(name: string, { signal }: RequestOptions): Promise<number> {
    return (await this.partitions?.map(signal))?.owners[slotOf(name)] ?? 0;
  }

  /**
   * Reads the settings of the queue. One request.
   * @throws {SluiceError}
   */
  async settings(options: RequestOptions = {}): Promise<QueueSettings> {
    const read = () => this.run(settingsScript, { group: "" }, [], options);
    return queueSettings((await this.overPartitions(read, options)).settings);
  }

  /**
   * Reads the settings of a group, and counts its tasks. One request.
   * @param name of the group
   * @throws {SluiceError}
   */
  async groupSettings(name: string, options: RequestOptions = {}): Promise<GroupInfo> {
    const args = { group: recordName(name, "group") };
    const found = await this.overPartitions(() => this.runOnAll(settingsScript, args, [], options), options);
    const owner = found.get(await this.#ownerOfGroup(name, options));
    const counts = sumOfGroup(Array.from(found.values(), (part) => part.counts));
    return { queue: this.name, group: name, ...groupSettings(owner?.settings ?? {}), ...counts };
  }

  /**
   * Reads a page of the groups that have waiting tasks, with their settings and counts: first the groups with
   * ready tasks, by name, then those all of whose waiting tasks wait for limits. Groups that have only working
   * or delayed tasks, or only settings, are not listed. A page can be short or empty although the cursor is
   * not null. If tasks move between pages, a group may be missed or come twice. One request; of a queue with
   * partitions one for each partition, one after the other.
   * @param options.size at most this many groups, 1 to 1,000. @default 100
   * @throws {SluiceError}
   * @example const { groups, cursor } = await operator.groups()
   */
  async groups(options: ListOptions = {}): Promise<GroupPage> {
    onlyOptions(options, LIST_OPTIONS);
    const size = wholeNumber(options.size ?? 100, "size", 1, MAX_BATCH);
    return this.overPartitions(() => this.#groups(size, options), options);
  }

  async #groups(size: number, options: ListOptions): Promise<GroupPage> {
    const first = (await this.allPartitions(options))[0] ?? 0;
    let { partition, inner } = readPartitionCursor(options.cursor, "groups", first);
    // A group has tasks in two partitions while its slot changes hands.
    const found = new Map<string, GroupInfo>();
    let cursor: string;
    do {
      const args = { cursor: inner, size: String(size - found.size) };
      const { page, all } = await this.runInList(listGroupsScript, args, options, partition);
      for (const { group: recorded, settings, counts } of page.groups) {
        const group = unescaped(recorded);
        const known = found.get(group);
        const sum = known ? sumOfGroup([known, counts]) : counts;
        found.set(group, { queue: this.name, group, ...groupSettings(settings), ...sum });
      }
      cursor = all ? cursorAfter(all, partition, page.cursor) : page.cursor;
      if (page.cursor !== "" || cursor === "") break;
      ({ partition, inner } = readPartitionCursor(cursor, "groups", 0));
    } while (found.size < size);
    return { groups: [...found.values()], cursor: cursor || null };
  }

  /**
   * Reads the counts of events by the minute for the last hour, and rates to scale by. One request.
   * @throws {SluiceError}
   */
  async statistics(options: RequestOptions = {}): Promise<QueueStatistics> {
    const read = () => this.runOnAll(statisticsScript, { testNow: this.testNow() }, [], options);
    const found = await this.overPartitions(read, options);
    return sumOfStatistics(Array.from(found.values(), (part) => readStatistics(this.name, part)));
  }

  /**
   * Deletes the queue: tasks, dead letters, results, settings, schedules, and its entry in the registry. An
   * enqueue creates it again; producers of other instances may take a minute to register it. Two requests.
   *
   * Of a queue with partitions all are deleted in one request, after another one has checked that no task is
   * working. If a task is dequeued in between, its partition stays. The queue keeps its partitions.
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
    return this.overPartitions(() => this.#deleteQueue(args, options), options);
  }

  async #deleteQueue(
    args: Parameters<typeof callOf<typeof deleteQueueScript>>[2],
    options: RequestOptions,
  ): Promise<QueueDeleted> {
    const all = await this.storedPartitions(options);
    const found = all.length > 1 && args.force === "" ? await this.#working(all, args.token, options) : 0;
    if (found > 0) return { ok: false, code: "still_working", working: found };
    const { partitions, replies } = await this.changeAll((added) => {
      const calls = added.map((partition) => ({ partition, args }));
      return this.runIn(deleteQueueScript, calls, options);
    }, options);
    const deletedAt = replies.flatMap((reply) => reply.deletedAt ?? []);
    const gone = partitions.filter((_, i) => replies[i]?.deletedAt !== undefined);
    const names = gone.map((partition) => ({ queue: this.nameOf(partition) }));
    // A separate request: if the first is refused, the queue must stay registered, or it would not be swept.
    if (names.length > 0) {
      await this.run(unregisterScript, { since: String(Math.max(...deletedAt)) }, names, options);
    }
    for (const partition of gone) forgetNote(this.transport, this.keysOf(partition));
    const working = replies.reduce((sum, reply) => sum + (reply.working ?? 0), 0);
    return working > 0 ? { ok: false, code: "still_working", working } : { ok: true };
  }

  /** How many tasks are working; 0 if an earlier copy of the call has deleted the queue. */
  async #working(partitions: readonly number[], token: string, { signal }: RequestOptions): Promise<number> {
    const counts = partitions.map((partition) => ["ZCARD", this.keysOf(partition).working] as const);
    const calls = ["GET", this.keysOf(0).operatorCalls] as const;
    const outcomes = await this.transport.send([...counts, calls], { signal });
    if (String(replyAt(outcomes, counts.length) ?? "").includes(` ${token}=ok`)) return 0;
    return counts.reduce((sum, _, i) => sum + Number(replyAt(outcomes, i)), 0);
  }

  async #configureQueue(changes: readonly SettingItem[], options: RequestOptions): Promise<QueueSettings> {
    const token = await this.token("configure", options);
    const args = { testNow: this.testNow(), token, group: "", wake: this.wakeWindow };
    return this.overPartitions(() => this.#configureAll(changes, args, options), options);
  }

  async #configureAll(
    changes: readonly SettingItem[],
    args: Parameters<typeof callOf<typeof configureScript>>[2],
    options: RequestOptions,
  ): Promise<QueueSettings> {
    // Partition 0 has the limits of the whole queue. The partitions get shares of them.
    const unshared = changes.filter(({ letter }) => !SHARED_LETTERS.includes(letter));
    const { partitions, replies } = await this.changeAll(async (added) => {
      const names = added.map((partition) => ({
        keys: this.keysOf(partition),
        name: this.nameOf(partition),
      }));
      // Registers a queue without tasks too, and makes producers of this instance follow the settings at once.
      const note = registrations(this.transport, names, this.testNow());
      const calls = added.map((partition) =>
        callOf(configureScript, this.keysOf(partition), args, partition === 0 ? changes : unshared),
      );
      const { noted, outcomes } = await sendNoted(this.transport, [note.command], calls, options);
      const found = calls.map((_, i) => configureScript.decode(replyAt(outcomes, i)));
      const { maxPending, events, statistics } = queueSettings(found[0]?.settings ?? {});
      if (!note.command || noted[0]) note.done(maxPending !== null || events || statistics);
      return found;
    }, options);
    const settings = queueSettings(replies[0]?.settings ?? {});
    let wake = replies.some((reply) => reply.wake);
    // A single partition too may have shares, from when there were others.
    if (this.partitions?.isSplit && unshared.length < changes.length) {
      const queue = this.partitionedQueue(options);
      const { wakeWindow } = this;
      wake = (await rebalanceShares(queue, partitions, { testNow: args.testNow, wake: wakeWindow })) || wake;
    }
    if (wake) await this.waker?.wake(this.name);
    return settings;
  }
}

const sumOfGroup = (counts: readonly Pick<GroupInfo, "ready" | "working" | "limited">[]) => ({
  ready: counts.reduce((sum, { ready }) => sum + ready, 0),
  working: counts.reduce((sum, { working }) => sum + working, 0),
  limited: counts.reduce((sum, { limited }) => sum + limited, 0),
});
