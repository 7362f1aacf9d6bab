/** The markers in the place of a queue's own keys, once its keys were renamed to those of partition 0. */
import { newerSchema, SluiceError } from "../../errors.ts";
import { type Call, commandCall, exchange, run, runAll, scriptCall } from "../../kernel/call.ts";
import {
  nameOfShard,
  partsWithSchedules,
  plainKeys,
  queueKeys,
  registryKey,
} from "../../kernel/names/keys.ts";
import type { QueueRef } from "../../kernel/queue-ref.ts";
import type { PlainCommand } from "../../kernel/transport.ts";
import { mapCall, registerPartitions } from "./map-calls.ts";
import type { PartitionMap } from "./map.ts";
import { renameKeysScript } from "./partition-scripts.ts";
import { partitionOf, type PartitionedQueue } from "./partitioned-queue.ts";

/** Reads all markers of a queue. In place of each that Redis has lost, the reply has null. */
export function markersCall({ name, prefix }: Omit<QueueRef, "transport">) {
  const keys = queueKeys(name, prefix);
  return commandCall(
    ["MGET", ...partsWithSchedules.map((part) => keys[part])],
    (reply) => reply as readonly (string | null)[],
  );
}

/** What is known of a queue whose keys hold markers. */
interface Marked {
  /** How many partitions the queue was to get at first. */
  readonly count: number;
  /** Version 0 if the map was not written yet, or was lost. */
  readonly map: PartitionMap;
}

/** Reads whether the keys of a queue hold markers, and its map. Undefined if they hold none. */
export async function readMarker(queue: PartitionedQueue): Promise<Marked | undefined> {
  const { tasks } = queueKeys(queue.name, queue.prefix);
  // Without markers it is a key of another type.
  const markerCall: Call<unknown> = {
    command: ["GET", tasks],
    read: (outcome) => outcome && "reply" in outcome && outcome.reply,
  };
  const [readText, readMap] = await exchange(queue.transport, [markerCall, mapCall(queue)], queue);
  const [, version, count] = /^(\d+);(.*)$/.exec(String(readText())) ?? [];
  if (version === undefined) return undefined;
  if (version !== "1") throw newerSchema("the marker of a queue with partitions");
  return { count: Number(count), map: readMap() };
}

/**
 * Renames the keys of a queue to those of partition 0, and leaves markers in their place, if no other caller has.
 * @param count how many partitions the queue is to get
 * @returns how many it was to get at first, by the first caller
 * @throws {SluiceError} `unexpected_reply` if Redis has lost an earlier call, and both have tasks
 */
export async function renameKeys(queue: PartitionedQueue, count: number): Promise<number> {
  const { name, prefix, transport } = queue;
  // Before the keys, so that no sweep misses them.
  await registerPartitions(queue, [0]);
  const keys = { ...partitionOf(queue, 0).keys, ...plainKeys(queueKeys(name, prefix)) };
  const first = await run(transport, scriptCall(renameKeysScript, keys, { count: String(count) }), queue);
  if (first === undefined) {
    throw new SluiceError(
      "unexpected_reply",
      `${name} has tasks under its own keys and under those of its partition 0, because Redis has lost a change: rename its own keys to those of another queue, sweep, and export and import their tasks (docs/operating.md)`,
    );
  }
  await moveNotes(queue);
  return first;
}

/** Gives partition 0 the entries that the registry still has of the queue. */
export async function moveNotes(queue: PartitionedQueue): Promise<void> {
  const { name, transport } = queue;
  const queues = registryKey(queue.prefix);
  const first = nameOfShard(name, 0);
  const notes = commandCall(["ZMSCORE", queues, name, `~${name}`], (reply) => reply as (string | null)[]);
  const [seenAt, remindsAt] = await run(transport, notes, queue);
  const commands: PlainCommand[] = [];
  if (seenAt != null) commands.push(["ZADD", queues, "GT", seenAt, first]);
  if (remindsAt != null) commands.push(["ZADD", queues, "LT", remindsAt, `~${first}`]);
  if (commands.length === 0) return;
  commands.push(["ZREM", queues, name, `~${name}`]);
  await runAll(
    transport,
    commands.map((command) => commandCall(command, () => {})),
    queue,
  );
}
