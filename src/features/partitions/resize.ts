/** Changes how many partitions a queue has, while it is in use. */
import { nameOfShard, queueKeys } from "../../kernel/names/keys.ts";
import { replyAt } from "../../kernel/scripts/replies.ts";
import { overtaken, readNotes } from "./lost-map.ts";
import { fetchMap, putMap, setOwned } from "./map-calls.ts";
import { owning, type PartitionMap, partitionsOf, spread, writeMap } from "./map.ts";
import { renameKeys } from "./marker.ts";
import type { PartitionedQueue } from "./partitioned-queue.ts";

/** How often a resize begins again, because another one has changed the map. */
const MAX_ROUNDS = 10;

/**
 * Gives a queue another number of partitions. Several callers may do so at the same time, and one that stopped
 * is continued by the next: a slot is first sealed, in all partitions that lose it, and then given to its new
 * owner, so that at no time two partitions own it. Before the first change, the keys of the queue are renamed to those
 * of partition 0. A change of which no slot has moved yet gets the new number.
 *
 * Tasks do not move: a partition that loses slots keeps the tasks that it has, until they end.
 * @param count 1 to 62; undefined to continue a change that another caller has begun
 * @param read the map, if it was read just now. If another caller changes it first, that one's number counts
 * @returns the map as it is then. It still has `next` if new partitions wait for the settings of the queue
 */
export async function resizeQueue(
  queue: PartitionedQueue,
  count: number | undefined,
  read?: PartitionMap,
): Promise<PartitionMap> {
  let map = read ?? (await fetchMap(queue));
  let hasAsked = false;
  /** Writes the number that this call asks for, once: if another call replaces it, that one's number counts. */
  const ask = async (next: PartitionMap) => {
    const written = await putMap(queue, map, next);
    hasAsked = written.text === next.text;
    return written;
  };
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const wanted = hasAsked || (read && map.version > read.version) ? undefined : count;
    if (map.version === 0) {
      if (wanted === undefined || wanted === 1) return map;
      map = await firstMap(queue, map, wanted);
      continue;
    }
    const next = wanted === undefined ? (map.next ?? map.owners) : spread(map.owners, wanted);
    const isKept = sameOwners(next, map.owners);
    if (map.next && map.isPreparing && !sameOwners(next, map.next)) {
      map = await ask(writeMap({ ...map, next: isKept ? undefined : next }));
      continue;
    }
    if (map.next) {
      const after = await handOver(queue, map, map.next);
      if (after.text === map.text) return map;
      map = after;
      continue;
    }
    if (isKept) return map;
    if ((await readNotes(queue)).version > map.version) {
      map = await overtaken(queue, map);
      continue;
    }
    map = await ask(writeMap({ ...map, version: map.version + 1, next, isPreparing: true }));
  }
  return map;
}

const sameOwners = (some: readonly number[], others: readonly number[]) =>
  some.every((owner, slot) => owner === others[slot]);

/** Gives a queue the keys of partition 0, and its first map, with as many partitions as the first caller wants. */
async function firstMap(queue: PartitionedQueue, map: PartitionMap, wanted: number): Promise<PartitionMap> {
  const first = { ...map, next: spread(map.owners, await renameKeys(queue, wanted)) };
  // Redis may have lost an earlier map, and partition 0, but not what other databases or nodes have.
  if ((await readNotes(queue)).version > 0) return overtaken(queue, first);
  return putMap(queue, map, writeMap({ ...first, version: 1, isPreparing: true }));
}

/**
 * Gives new partitions the settings of the queue. Returns the map with which the slots may change hands, or the same
 * if that is left to other callers.
 */
async function prepare(
  queue: PartitionedQueue,
  map: PartitionMap,
  next: readonly number[],
): Promise<PartitionMap> {
  const had = partitionsOf({ ...map, next: undefined });
  const added = owning({ owners: next }).filter((partition) => !had.includes(partition));
  const { copySettings, now } = queue;
  if (added.length > 0 && copySettings) {
    await copySettings(queue, partitionsOf(map), added, { testNow: now ? String(now()) : "" });
  } else if (added.length > 0 && (await hasSettings(queue))) return map;
  return putMap(queue, map, writeMap({ ...map, isPreparing: false }));
}

/** Whether partition 0 has settings of the queue or of its groups. */
async function hasSettings({ name, prefix, transport, signal }: PartitionedQueue): Promise<boolean> {
  const { tasks } = queueKeys(nameOfShard(name, 0), prefix);
  const outcomes = await transport.send([["HMGET", tasks, "~set", "~groups"]], { signal });
  return (replyAt(outcomes, 0) as readonly (string | null)[]).some((value) => value !== null);
}

/** Seals the slots that change hands, gives them to their new owners, and ends the change. */
async function handOver(
  queue: PartitionedQueue,
  map: PartitionMap,
  next: readonly number[],
): Promise<PartitionMap> {
  const { owners, version } = map;
  const before = owning(map);
  if (map.isPreparing) return prepare(queue, map, next);
  const kept = owners.map((owner, slot) => (owner === next[slot] ? owner : -1));
  const sealed = await setOwned(queue, version, kept, before);
  if ("newer" in sealed) return overtaken(queue, map);
  const given = await setOwned(queue, version, next, owning({ owners: next }));
  if ("newer" in given) return overtaken(queue, map);
  const losing = before.filter((partition, i) => {
    return sealed.used[i] && owners.some((owner, slot) => owner === partition && next[slot] !== partition);
  });
  const former = [...new Set([...map.former, ...losing])].toSorted((one, other) => one - other);
  return putMap(queue, map, writeMap({ version, owners: next, next: undefined, former, isPreparing: false }));
}
