/** The markers in the place of a queue's own keys, once its keys were renamed to those of partition 0. */
import { newerSchema, SluiceError } from "../../errors.ts";
import {
  mapsKey,
  nameOfShard,
  partsWithSchedules,
  plainKeys,
  queueKeys,
  registryKey,
} from "../../kernel/names/keys.ts";
import { callOf } from "../../kernel/scripts/binding.ts";
import { renameKeysScript } from "./partition-scripts.ts";
import { replyAt } from "../../kernel/scripts/replies.ts";
import type { Command } from "../../kernel/transport.ts";
import { registerPartitions } from "./map-calls.ts";
import { type PartitionMap, readMap } from "./map.ts";
import type { PartitionedQueue } from "./partitioned-queue.ts";

/** The command that reads all markers of a queue. In place of each that Redis has lost, its reply has null. */
export function markersCommand({ name, prefix }: Pick<PartitionedQueue, "name" | "prefix">): Command {
  const keys = queueKeys(name, prefix);
  return ["MGET", ...partsWithSchedules.map((part) => keys[part])];
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
  const { name, prefix, transport, signal } = queue;
  const outcomes = await transport.send(
    [
      ["GET", queueKeys(name, prefix).tasks],
      ["HGET", mapsKey(prefix), name],
    ],
    { signal },
  );
  const [marker] = outcomes;
  if (!marker || !("reply" in marker) || typeof marker.reply !== "string") return undefined;
  const [, version, count] = /^(\d+);(.*)$/.exec(marker.reply) ?? [];
  if (version === undefined) return undefined;
  if (version !== "1") throw newerSchema("the marker of a queue with partitions");
  return { count: Number(count), map: readMap(replyAt(outcomes, 1) as string | null) };
}

/**
 * Renames the keys of a queue to those of partition 0, and leaves markers in their place, if no other caller has.
 * @param count how many partitions the queue is to get
 * @returns how many it was to get at first, by the first caller
 * @throws {SluiceError} `unexpected_reply` if Redis has lost an earlier call, and both have tasks
 */
export async function renameKeys(queue: PartitionedQueue, count: number): Promise<number> {
  const { name, prefix, transport, signal } = queue;
  const keys = queueKeys(nameOfShard(name, 0), prefix);
  // Before the keys, so that no sweep misses them.
  await registerPartitions(queue, [0]);
  const call = callOf(
    renameKeysScript,
    { ...keys, ...plainKeys(queueKeys(name, prefix)) },
    { count: String(count) },
  );
  const first = renameKeysScript.decode(replyAt(await transport.send([call], { signal }), 0));
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
export async function moveNotes({ name, prefix, transport, signal }: PartitionedQueue): Promise<void> {
  const queues = registryKey(prefix);
  const first = nameOfShard(name, 0);
  const read = await transport.send([["ZMSCORE", queues, name, `~${name}`]], { signal });
  const [seenAt, remindsAt] = replyAt(read, 0) as readonly (string | null)[];
  const commands: Command[] = [];
  if (seenAt != null) commands.push(["ZADD", queues, "GT", seenAt, first]);
  if (remindsAt != null) commands.push(["ZADD", queues, "LT", remindsAt, `~${first}`]);
  if (commands.length === 0) return;
  commands.push(["ZREM", queues, name, `~${name}`]);
  const moved = await transport.send(commands, { signal });
  for (const i of commands.keys()) replyAt(moved, i);
}
