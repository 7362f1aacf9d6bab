/** Changes how many partitions a queue has, while it is in use. */
import { wholeNumber } from "../core/validation.ts";
import { mapsKey, nameOfPartition, queueKeys, registryKey } from "../core/keys.ts";
import { MAX_PARTITIONS } from "../core/partition-slots.ts";
import { callOf } from "../redis/binding.ts";
import { ownSlotsScript, putMapScript } from "../redis/partition-scripts.ts";
import { replyAt } from "../redis/replies.ts";
import { ownedText, owning, type PartitionMap, partitionsOf, readMap, spread, writeMap } from "./map.ts";
import type { PartitionedQueue } from "./partitioned-queue.ts";

/**
 * From the announcement of the first partitions of a queue to the change, ms: longer than the minute after which
 * each producer reads the settings of a queue, in which it learns of them.
 */
const FIRST_CHANGE_AFTER = 75_000;

/** The instant from which a change may begin that need not wait: its slots change hands once it is prepared. */
const PREPARING = 1;

/** How often a resize begins again, because another one has changed the map. */
const MAX_ROUNDS = 10;

/** @throws {SluiceError} `invalid_argument` */
export function partitionCount(value: unknown, path = "partitions"): number {
  return wholeNumber(value, path, 1, MAX_PARTITIONS);
}

/** Reads the map of a queue. One request of one command. */
export async function fetchMap({ name, prefix, transport, signal }: PartitionedQueue): Promise<PartitionMap> {
  const outcomes = await transport.send([["HGET", mapsKey(prefix), name]], { signal });
  return readMap(replyAt(outcomes, 0) as string | null);
}

/**
 * Gives a queue another number of partitions. Several callers may do so at the same time, and one that stopped
 * is continued by the next: a slot is first sealed, in all partitions that lose it, and then given to its new
 * owner, so that at no time two partitions own it.
 *
 * Tasks do not move: a partition that loses slots keeps the tasks that it has, until they end.
 * @param count 1 to 62; undefined to continue a change that another caller has begun
 * @param read the map, if it was read just now
 * @returns the map as it is then. It still has `next` if the change must wait
 */
export async function resizeQueue(
  queue: PartitionedQueue,
  count: number | undefined,
  read?: PartitionMap,
): Promise<PartitionMap> {
  let map = read ?? (await fetchMap(queue));
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (map.next) {
      const after = await handOver(queue, map, map.next);
      if (after.text === map.text) return map;
      map = after;
      continue;
    }
    const next = count === undefined ? map.owners : spread(map.owners, count);
    const same = next.every((owner, slot) => owner === map.owners[slot]);
    if (same && (map.version > 0 || count === undefined || count === 1)) return map;
    const notBefore = map.version === 0 ? await firstChangeAt(queue) : PREPARING;
    map = await putMap(queue, map, writeMap({ ...map, version: map.version + 1, next, notBefore }));
  }
  return map;
}

/**
 * When the first change may begin: at once, if the queue has nothing and no producer has noted it. Else producers
 * must learn of it first.
 */
async function firstChangeAt(queue: PartitionedQueue): Promise<number> {
  const { queues, pending, fair, limited, working, delayed, expiry, dead } = queueKeys(
    queue.name,
    queue.prefix,
  );
  const outcomes = await queue.transport.send(
    [
      ["EXISTS", pending, fair, limited, working, delayed, expiry, dead],
      ["ZSCORE", queues, queue.name],
    ],
    { signal: queue.signal },
  );
  const isNew = replyAt(outcomes, 0) === 0 && replyAt(outcomes, 1) === null;
  return isNew ? PREPARING : (await redisNow(queue)) + FIRST_CHANGE_AFTER;
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
  const { owners, version, notBefore } = map;
  if (notBefore > PREPARING) {
    // So producers learn of the partitions that do not know of them. The version is that before the change: a
    // late copy of this call must not undo a seal.
    await setOwned(queue, version - 1, owners, owning(map));
    if ((await redisNow(queue)) < notBefore) return map;
  }
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
  if ("newer" in sealed) return overtaken(queue, map, sealed.newer);
  const given = await setOwned(queue, version, next, owning({ owners: next }));
  if ("newer" in given) return overtaken(queue, map, given.newer);
  const losing = before.filter((partition, i) => {
    return sealed.used[i] && owners.some((owner, slot) => owner === partition && next[slot] !== partition);
  });
  const former = [...new Set([...map.former, ...losing])].toSorted((one, other) => one - other);
  return putMap(queue, map, writeMap({ version, owners: next, next: undefined, former, notBefore: 0 }));
}

/**
 * The map after a partition has answered that it knows a later one. If there is none, the map was lost and made
 * anew: then it gets a higher version.
 */
export async function overtaken(
  queue: PartitionedQueue,
  map: PartitionMap,
  version: number,
): Promise<PartitionMap> {
  const now = await fetchMap(queue);
  if (now.text !== map.text) return now;
  return putMap(
    queue,
    map,
    writeMap({ ...map, version: version + 1, next: map.next ?? map.owners, notBefore: PREPARING }),
  );
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
    callOf(ownSlotsScript, queueKeys(nameOfPartition(name, partition), prefix), {
      version: String(version),
      owned: ownedText(owners, partition),
    }),
  );
  const outcomes = await transport.send(calls, { signal });
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
