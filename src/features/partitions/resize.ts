/** Changes how many partitions a queue has, while it is in use. */
import { commandCall, run, runAll } from "../../kernel/call.ts";
import { MAX_SHARDS } from "../../kernel/names/slots.ts";
import { fetchMap, putMap, registerPartitions, setOwned } from "./map-calls.ts";
import { inOrder, owning, type PartitionMap, partitionsOf, spread, writeMap } from "./map.ts";
import { readMarker, renameKeys } from "./marker.ts";
import { partitionOf, type PartitionedQueue } from "./partitioned-queue.ts";

/** How many times a resize begins again because another one has changed the map. */
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
    } else if (map.next) {
      const after = await handOver(queue, map, map.next);
      if (after.text === map.text) return map;
      map = after;
    } else if (isKept) {
      return map;
    } else if ((await readNotes(queue)).version > map.version) {
      map = await overtaken(queue, map);
    } else {
      map = await ask(writeMap({ ...map, version: map.version + 1, next, isPreparing: true }));
    }
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
  const isReady = await (queue.prepare ?? lacksSettings)(queue, map, added);
  return isReady ? putMap(queue, map, writeMap({ ...map, isPreparing: false })) : map;
}

/** Whether partition 0 has no settings of the queue and of its groups. */
function lacksSettings(queue: PartitionedQueue): Promise<boolean> {
  const { tasks } = partitionOf(queue, 0).keys;
  const call = commandCall(["HMGET", tasks, "~set", "~groups"], (reply) =>
    (reply as readonly (string | null)[]).every((value) => value === null),
  );
  return run(queue.transport, call, queue);
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
  const given = sealed && (await setOwned(queue, version, next, owning({ owners: next })));
  if (!given) return overtaken(queue, map);
  const losing = before.filter((partition, i) => {
    return sealed[i] && owners.some((owner, slot) => owner === partition && next[slot] !== partition);
  });
  const former = inOrder([...map.former, ...losing]);
  return putMap(queue, map, writeMap({ version, owners: next, next: undefined, former, isPreparing: false }));
}

const ALL = Array.from({ length: MAX_SHARDS }, (_, partition) => partition);

/**
 * Reads which partitions have a note of their slots, and the latest version of a map in one; 0 if there is none. One
 * request of a command for each partition that a queue may have.
 */
async function readNotes(
  queue: PartitionedQueue,
): Promise<{ readonly noted: readonly number[]; readonly version: number }> {
  const calls = ALL.map((partition) =>
    commandCall(
      ["HGET", partitionOf(queue, partition).keys.tasks, "~slots"],
      (note) => note as string | null,
    ),
  );
  const notes = await runAll(queue.transport, calls, queue);
  const versions = notes.map((note) => Number(/^\d+;(\d+);/.exec(note ?? "")?.[1] ?? 0));
  return { noted: ALL.filter((partition) => notes[partition] !== null), version: Math.max(...versions) };
}

/**
 * The map after a partition has answered that it knows a later one. If there is none, that was lost, or came back as it
 * was before, when a replica took over that had not got it: then this map gets a version above it. All partitions that
 * have noted a map are `former`, for each may have tasks and know ids of slots that this map gives to another.
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
  const others = noted.filter((partition) => !owners.includes(partition));
  if (!(await setOwned(queue, version, [], others))) return fetchMap(queue);
  const former = inOrder([...map.former, ...noted]);
  const next = map.next ?? map.owners;
  return putMap(queue, map, writeMap({ version, owners: map.owners, next, former, isPreparing: true }));
}

/**
 * The map of a queue whose keys hold markers; undefined if they hold none. If the caller that put them has not given it
 * the first one yet, this does.
 */
export async function markedMap(queue: PartitionedQueue): Promise<PartitionMap | undefined> {
  const marked = await readMarker(queue);
  return marked?.map.version === 0 ? resizeQueue(queue, marked.count, marked.map) : marked?.map;
}
