/** Changes how many partitions a queue has, while it is in use. */
import { wholeNumber } from "../core/validation.ts";
import { queueKeys } from "../core/keys.ts";
import { MAX_PARTITIONS } from "../core/partition-slots.ts";
import { replyAt } from "../redis/replies.ts";
import { notedVersion, overtaken } from "./lost-map.ts";
import { fetchMap, putMap, setOwned } from "./map-calls.ts";
import { owning, type PartitionMap, partitionsOf, PREPARING, spread, writeMap } from "./map.ts";
import type { PartitionedQueue } from "./partitioned-queue.ts";

/**
 * From the announcement of the first partitions of a queue to the change, ms: longer than the minute after which
 * each producer reads the settings of a queue, in which it learns of them.
 */
const FIRST_CHANGE_AFTER = 75_000;

/** How often a resize begins again, because another one has changed the map. */
const MAX_ROUNDS = 10;

/** @throws {SluiceError} `invalid_argument` */
export function partitionCount(value: unknown, path = "partitions"): number {
  return wholeNumber(value, path, 1, MAX_PARTITIONS);
}

/**
 * Gives a queue another number of partitions. Several callers may do so at the same time, and one that stopped
 * is continued by the next: a slot is first sealed, in all partitions that lose it, and then given to its new
 * owner, so that at no time two partitions own it. A change that still waits for the producers gets the new number.
 *
 * Tasks do not move: a partition that loses slots keeps the tasks that it has, until they end.
 * @param count 1 to 62; undefined to continue a change that another caller has begun
 * @param read the map, if it was read just now. If another caller changes it first, that one's number counts
 * @returns the map as it is then. It still has `next` if the change must wait
 */
export async function resizeQueue(
  queue: PartitionedQueue,
  count: number | undefined,
  read?: PartitionMap,
): Promise<PartitionMap> {
  let map = read ?? (await fetchMap(queue));
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const wanted = read && map.version > read.version ? undefined : count;
    const next = wanted === undefined ? (map.next ?? map.owners) : spread(map.owners, wanted);
    const isKept = sameOwners(next, map.owners);
    if (map.next && map.notBefore > PREPARING && !sameOwners(next, map.next)) {
      map = await putMap(queue, map, writeMap({ ...map, next: isKept ? undefined : next }));
      continue;
    }
    if (map.next) {
      const after = await handOver(queue, map, map.next);
      if (after.text === map.text) return map;
      map = after;
      continue;
    }
    if (isKept && (map.version > 0 || wanted === undefined || wanted === 1)) return map;
    const { noted, isNew } = await look(queue);
    if (noted > map.version) {
      map = await overtaken(queue, map);
      continue;
    }
    const waits = map.version === 0 && !isNew;
    const notBefore = waits ? await announce(queue, map) : Math.max(map.notBefore, PREPARING);
    map = await putMap(queue, map, writeMap({ ...map, version: map.version + 1, next, notBefore }));
  }
  return map;
}

const sameOwners = (some: readonly number[], others: readonly number[]) =>
  some.every((owner, slot) => owner === others[slot]);

/**
 * Lets producers learn that the queue has partitions, by what partition 0 notes.
 * @returns when all of them may know it, epoch ms
 */
async function announce(queue: PartitionedQueue, { version, owners }: PartitionMap): Promise<number> {
  // The version is that before the change: a late copy of this call must not undo a seal.
  await setOwned(queue, version, owners, owning({ owners }));
  return (await redisNow(queue)) + FIRST_CHANGE_AFTER;
}

/**
 * What a change must know of partition 0, which always owns slots: the version of the map that it has noted; and
 * whether the queue is new: it has nothing, no producer has registered it, and no operator has deleted it within the
 * last minutes, after which its producers may go on for one.
 */
async function look(queue: PartitionedQueue): Promise<{ noted: number; isNew: boolean }> {
  const keys = queueKeys(queue.name, queue.prefix);
  const { queues, tasks, pending, fair, limited, working, delayed, expiry, dead, operatorCalls } = keys;
  const outcomes = await queue.transport.send(
    [
      ["HGET", tasks, "~slots"],
      ["EXISTS", pending, fair, limited, working, delayed, expiry, dead, operatorCalls],
      ["ZSCORE", queues, queue.name],
    ],
    { signal: queue.signal },
  );
  const noted = notedVersion(replyAt(outcomes, 0) as string | null);
  return { noted, isNew: replyAt(outcomes, 1) === 0 && replyAt(outcomes, 2) === null };
}

async function redisNow({ transport, signal, now }: PartitionedQueue): Promise<number> {
  if (now) return now();
  const [seconds, micros] = replyAt(await transport.send([["TIME"]], { signal }), 0) as readonly string[];
  return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
}

/**
 * Waits until all producers may know that the queue has partitions, and gives new partitions the settings of the
 * queue. Returns the map with which the slots may change hands, or the same if it is too early.
 */
async function prepare(
  queue: PartitionedQueue,
  map: PartitionMap,
  next: readonly number[],
): Promise<PartitionMap> {
  if (map.notBefore > PREPARING && (await redisNow(queue)) < map.notBefore) return map;
  const had = partitionsOf({ ...map, next: undefined });
  const added = owning({ owners: next }).filter((partition) => !had.includes(partition));
  const { copySettings, now, transport, signal } = queue;
  if (added.length > 0 && copySettings) {
    await copySettings(queue, partitionsOf(map), added, { testNow: now ? String(now()) : "" });
  } else if (added.length > 0) {
    const { tasks } = queueKeys(queue.name, queue.prefix);
    if (replyAt(await transport.send([["EXISTS", tasks]], { signal }), 0) === 1) return map;
  }
  return putMap(queue, map, writeMap({ ...map, notBefore: 0 }));
}

/** Seals the slots that change hands, gives them to their new owners, and ends the change. */
async function handOver(
  queue: PartitionedQueue,
  map: PartitionMap,
  next: readonly number[],
): Promise<PartitionMap> {
  const { owners, version } = map;
  const before = owning(map);
  if (map.notBefore > 0) return prepare(queue, map, next);
  const kept = owners.map((owner, slot) => (owner === next[slot] ? owner : -1));
  const sealed = await setOwned(queue, version, kept, before);
  if ("newer" in sealed) return overtaken(queue, map);
  const given = await setOwned(queue, version, next, owning({ owners: next }));
  if ("newer" in given) return overtaken(queue, map);
  const losing = before.filter((partition, i) => {
    return sealed.used[i] && owners.some((owner, slot) => owner === partition && next[slot] !== partition);
  });
  const former = [...new Set([...map.former, ...losing])].toSorted((one, other) => one - other);
  return putMap(queue, map, writeMap({ version, owners: next, next: undefined, former, notBefore: 0 }));
}
