/** Maps that were lost, or that came back as they were before, when a replica took over that had not got them. */
import { nameOfShard, queueKeys } from "../../kernel/names/keys.ts";
import { MAX_SHARDS } from "../../kernel/names/slots.ts";
import { replyAt } from "../../kernel/scripts/replies.ts";
import { fetchMap, putMap, registerPartitions, setOwned } from "./map-calls.ts";
import { owning, type PartitionMap, writeMap } from "./map.ts";
import type { PartitionedQueue } from "./partitioned-queue.ts";

const ALL = Array.from({ length: MAX_SHARDS }, (_, partition) => partition);

/**
 * Reads which partitions have a note of their slots, and the latest version of a map in one; 0 if there is none. One
 * request of a command for each partition that a queue may have.
 */
export async function readNotes({
  name,
  prefix,
  transport,
  signal,
}: PartitionedQueue): Promise<{ readonly noted: readonly number[]; readonly version: number }> {
  const outcomes = await transport.send(
    ALL.map((partition) => ["HGET", queueKeys(nameOfShard(name, partition), prefix).tasks, "~slots"]),
    { signal },
  );
  const notes = ALL.map((_, i) => replyAt(outcomes, i) as string | null);
  const versions = notes.map((note) => Number(/^\d+;(\d+);/.exec(note ?? "")?.[1] ?? 0));
  return { noted: ALL.filter((partition) => notes[partition] !== null), version: Math.max(...versions) };
}

/**
 * The map after a partition has answered that it knows a later one. If there is none, that was lost: then this map
 * gets a version above it. All partitions that have noted a map are `former`, for each may have tasks and know ids of
 * slots that this map gives to another.
 * @returns a map with `next`, so that a resize goes on with it; or that which another caller has put
 */
export async function overtaken(queue: PartitionedQueue, map: PartitionMap): Promise<PartitionMap> {
  const now = await fetchMap(queue);
  if (now.text !== map.text) return now;
  const { noted, version: latest } = await readNotes(queue);
  const version = Math.max(map.version, latest) + 1;
  // The registry may be lost, too. Consumers and sweeps visit no partition that it does not have.
  await registerPartitions(queue, noted);
  const owners = owning(map);
  // A resize seals slots only in the owners that its map names.
  const sealed = await setOwned(
    queue,
    version,
    [],
    noted.filter((partition) => !owners.includes(partition)),
  );
  if ("newer" in sealed) return fetchMap(queue);
  const former = [...new Set([...map.former, ...noted])].toSorted((one, other) => one - other);
  const next = map.next ?? map.owners;
  return putMap(queue, map, writeMap({ version, owners: map.owners, next, former, isPreparing: true }));
}
