import { exchange, run } from "../kernel/call.ts";
import { changeAll } from "../kernel/on-all.ts";
import type { RequestOptions } from "../kernel/options/types.ts";
import { SHARED_LETTERS } from "../kernel/record/settings-record.ts";
import { recordName } from "../kernel/options/validation.ts";
import { configureScript, settingsScript } from "../kernel/scripts/settings-scripts.ts";
import { tokenOf } from "../kernel/call-token.ts";
import type { OperatedQueue } from "./operated-queue.ts";
import {
  groupChanges,
  groupSettings,
  queueSettings,
  type GroupChanges,
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

/** Changes settings of the queue: see `Operator.configure`. */
export async function configureQueue(
  queue: OperatedQueue,
  changes: readonly SettingItem[],
  options: RequestOptions,
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
    const { shards, replies } = await changeAll(
      store,
      async (added) => {
        // Registers a queue without tasks too, and makes producers of this instance follow the settings at once.
        const notes = added.map((shard) => shard.note());
        const calls = added.map((shard, i) =>
          shard.call(configureScript, args, shard.place === 0 ? changes : unshared, notes[i]),
        );
        const found = (await exchange(store.queue.transport, calls, options)).map((reply) => reply());
        const { maxPending, events, statistics } = queueSettings(found[0]?.settings ?? {});
        for (const note of notes) note.learn(maxPending !== null || events || statistics);
        return found;
      },
      options,
    );
    const areSharesOld = unshared.length < changes.length;
    const mustWake = areSharesOld && (await store.shareLimits?.(shards, args.wake, options));
    await store.ready({ now: mustWake || replies.some(({ wake }) => wake) });
    return queueSettings(replies[0]?.settings ?? {});
  }, options);
}

/** Changes settings of a group: see `Operator.configureGroup`. */
export async function configureGroup(
  queue: OperatedQueue,
  name: string,
  changes: GroupChanges,
  options: RequestOptions,
): Promise<GroupSettings> {
  const { store } = queue;
  const args = {
    token: await tokenOf(queue.store.queue, "configure", options),
    group: recordName(name, "group"),
    wake: store.wakeWindow(),
  };
  const items = groupChanges(changes);
  return store.over(async () => {
    // All shards get them, because the group may go to another one later.
    const { shards, replies } = await changeAll(
      store,
      async (added) => {
        const calls = added.map((shard) =>
          shard.call(configureScript, args, items, shard.isPart ? shard.note() : undefined),
        );
        return (await exchange(store.queue.transport, calls, options)).map((reply) => reply());
      },
      options,
    );
    await store.ready({ now: replies.some(({ wake }) => wake) });
    const owner = await store.ownerOf(name, options);
    return groupSettings(replies[shards.findIndex(({ place }) => place === owner.place)]?.settings ?? {});
  }, options);
}
