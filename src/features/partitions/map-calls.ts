/** The calls that read and write the map of a queue, and note in partitions which slots they own. */
import { type Call, commandCall, run, runAll, scriptCall } from "../../kernel/call.ts";
import { mapsKey, nameOfShard, registryKey } from "../../kernel/names/keys.ts";
import type { QueueRef } from "../../kernel/queue-ref.ts";
import { registerScript } from "../../kernel/scripts/sweep-scripts.ts";
import { Shard } from "../../kernel/shard.ts";
import { ownedText, type PartitionMap, partitionsOf, readMap } from "./map.ts";
import { ownSlotsScript, putMapScript } from "./partition-scripts.ts";
import { partitionOf, type PartitionedQueue } from "./partitioned-queue.ts";

/** Reads the map of a queue. */
export function mapCall({ name, prefix }: QueueRef): Call<PartitionMap> {
  return commandCall(["HGET", mapsKey(prefix), name], (reply) => readMap(reply as string | null));
}

/** Reads the map of a queue. One request of one command. */
export function fetchMap(queue: PartitionedQueue): Promise<PartitionMap> {
  return run(queue.transport, mapCall(queue), queue);
}

/** Notes in the registry that partitions are in use. */
export async function registerPartitions(
  queue: PartitionedQueue,
  partitions: readonly number[],
): Promise<void> {
  const names = partitions.map((partition) => ({ queue: nameOfShard(queue.name, partition) }));
  await run(queue.transport, new Shard(queue).call(registerScript, {}, names), queue);
}

/**
 * Notes in partitions which slots they own.
 * @returns which of them had been used before; undefined if one knows a later map
 */
export async function setOwned(
  queue: PartitionedQueue,
  version: number,
  owners: readonly number[],
  partitions: readonly number[],
): Promise<readonly boolean[] | undefined> {
  const calls = partitions.map((partition) =>
    partitionOf(queue, partition).call(ownSlotsScript, {
      version: String(version),
      owned: ownedText(owners, partition),
    }),
  );
  const replies = await runAll(queue.transport, calls, queue);
  return replies.some(({ noted }) => noted !== undefined)
    ? undefined
    : replies.map(({ used }) => used === true);
}

/** Writes a map if it is still as it was read. Returns the map that is there then. */
export async function putMap(
  queue: PartitionedQueue,
  was: PartitionMap,
  map: PartitionMap,
): Promise<PartitionMap> {
  const partitions = String((partitionsOf(map).at(-1) as number) + 1);
  return readMap(await replaceMap(queue, queue.name, { was: was.text, map: map.text, partitions }));
}

/** Replaces a field of the maps, if it is still as it was read. Returns what is there then. */
export function replaceMap(
  queue: PartitionedQueue,
  field: string,
  args: { readonly was: string; readonly map: string; readonly partitions: string },
): Promise<string> {
  const keys = { queues: registryKey(queue.prefix), maps: mapsKey(queue.prefix) };
  return run(queue.transport, scriptCall(putMapScript, keys, { queue: field, ...args }), queue);
}
