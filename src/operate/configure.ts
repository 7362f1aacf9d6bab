import { run } from "../kernel/call.ts";
import type { Note } from "../kernel/note.ts";
import { changeAll } from "../kernel/on-all.ts";
import type { Script } from "../kernel/transport.ts";
import type { Shard } from "../kernel/shard.ts";
import type { RequestOptions } from "../kernel/options/types.ts";
import { SHARED_LETTERS } from "../kernel/record/settings-record.ts";
import { recordName } from "../kernel/options/validation.ts";
import { configureScript, settingsScript } from "../kernel/scripts/settings-scripts.ts";
import { tokenOf } from "../kernel/call-token.ts";
import type { OperatedQueue } from "./operated-queue.ts";
import {
  groupSettings,
  queueSettings,
  type GroupSettings,
  type QueueSettings,
  type SettingItem,
} from "./settings.ts";

/** Reads the settings of the queue: see `Operator.settings`. */
export async function readQueueSettings(
  { store }: OperatedQueue,
  options: RequestOptions,
): Promise<QueueSettings> {
  const read = () => run(store.queue.transport, store.shard(0).call(settingsScript, { group: "" }), options);
  return queueSettings((await store.over(read, options)).settings);
}

/**
 * Changes settings of the queue: see `Operator.configure`.
 * @param script the edition of it. The plain one refuses a queue in strict order, and must set none
 */
export async function configureQueue(
  queue: OperatedQueue,
  changes: readonly SettingItem[],
  options: RequestOptions,
  script: Script = configureScript.script,
): Promise<QueueSettings> {
  const { store } = queue;
  const args = {
    token: await tokenOf(queue.store.queue, "configure", options),
    group: "",
    wake: store.wakeWindow(),
  };
  // The shard of place 0 has the limits of the whole queue. The others get shares of them.
  const unshared = changes.filter(({ letter }) => !SHARED_LETTERS.includes(letter));
  return store.over(async () => {
    // Notes register a queue without tasks too, and make producers of this instance follow the settings at once.
    const notes: Note[] = [];
    const callOf = (shard: Shard) => {
      const note = shard.note();
      notes.push(note);
      return shard.call({ ...configureScript, script }, args, shard.place === 0 ? changes : unshared, note);
    };
    const changed = await changeAll(store, callOf, options);
    const settings = queueSettings(changed[0]?.reply.settings ?? {});
    const { maxPending, events, statistics } = settings;
    for (const note of notes) note.learn(maxPending !== null || events || statistics);
    const areSharesOld = unshared.length < changes.length;
    const shards = changed.map(({ shard }) => shard);
    const mustWake = areSharesOld && (await store.shareLimits?.(shards, args.wake, options));
    const now = mustWake || changed.some(({ reply }) => reply.wake);
    await store.ready({ now, at: settings.pausedUntil ?? undefined });
    return settings;
  }, options);
}

/** Changes settings of a group: see `Operator.configureGroup`. */
export async function configureGroup(
  queue: OperatedQueue,
  name: string,
  changes: readonly SettingItem[],
  options: RequestOptions,
  script: Script,
): Promise<GroupSettings> {
  const { store } = queue;
  const args = {
    token: await tokenOf(queue.store.queue, "configure", options),
    group: recordName(name, "group"),
    wake: store.wakeWindow(),
  };
  return store.over(async () => {
    // All shards get them, because the group may go to another one later.
    const callOf = (shard: Shard) =>
      shard.call({ ...configureScript, script }, args, changes, shard.isPart ? shard.note() : undefined);
    const changed = await changeAll(store, callOf, options);
    const owner = await store.ownerOf(name, options);
    const { reply } = changed.find(({ shard }) => shard.place === owner.place) ?? {};
    const settings = groupSettings(reply?.settings ?? {});
    const now = changed.some((one) => one.reply.wake);
    await store.ready({ now, at: settings.pausedUntil ?? undefined });
    return settings;
  }, options);
}
