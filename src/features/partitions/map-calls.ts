/** The calls that read and write the map of a queue, what partitions note of it, and that these are in use. */
import { mapsKey, nameOfShard, queueKeys, registryKey } from "../../kernel/names/keys.ts";
import { callOf } from "../../kernel/scripts/binding.ts";
import { ownSlotsScript, putMapScript } from "./partition-scripts.ts";
import { replyAt } from "../../kernel/scripts/replies.ts";
import { registerScript } from "../../kernel/scripts/sweep-scripts.ts";
import { ownedText, type PartitionMap, partitionsOf, readMap } from "./map.ts";
import type { PartitionedQueue } from "./partitioned-queue.ts";

/** Reads the map of a queue. One request of one command. */
export async function fetchMap({ name, prefix, transport, signal }: PartitionedQueue): Promise<PartitionMap> {
  const outcomes = await transport.send([["HGET", mapsKey(prefix), name]], { signal });
  return readMap(replyAt(outcomes, 0) as string | null);
}

/** Notes in the registry that partitions are in use. */
export async function registerPartitions(
  { name, prefix, transport, signal, now }: PartitionedQueue,
  partitions: readonly number[],
): Promise<void> {
  const call = callOf(
    registerScript,
    { queues: registryKey(prefix) },
    { testNow: now ? String(now()) : "" },
    partitions.map((partition) => ({ queue: nameOfShard(name, partition) })),
  );
  replyAt(await transport.send([call], { signal }), 0);
}

/** Which partitions had been used before; or the version of the latest map that one knows, if it is later. */
type OwnedReply = { readonly used: readonly boolean[] } | { readonly newer: number };

/** Notes in partitions which slots they own, unless they know a later map. */
export async function setOwned(
  { name, prefix, transport, signal }: PartitionedQueue,
  version: number,
  owners: readonly number[],
  partitions: readonly number[],
): Promise<OwnedReply> {
  const calls = partitions.map((partition) =>
    callOf(ownSlotsScript, queueKeys(nameOfShard(name, partition), prefix), {
      version: String(version),
      owned: ownedText(owners, partition),
    }),
  );
  const outcomes = calls.length > 0 ? await transport.send(calls, { signal }) : [];
  const replies = calls.map((_, i) => ownSlotsScript.decode(replyAt(outcomes, i)));
  const newer = Math.max(0, ...replies.map(({ noted = 0 }) => noted));
  return newer > 0 ? { newer } : { used: replies.map(({ used }) => used ?? false) };
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
export async function replaceMap(
  { prefix, transport, signal }: PartitionedQueue,
  field: string,
  args: { readonly was: string; readonly map: string; readonly partitions: string },
): Promise<string> {
  const keys = { queues: registryKey(prefix), maps: mapsKey(prefix) };
  const call = callOf(putMapScript, keys, { queue: field, ...args });
  return putMapScript.decode(replyAt(await transport.send([call], { signal }), 0));
}
