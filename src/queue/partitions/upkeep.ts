/** What a sweep does for a queue with partitions, beside sweeping each of them. */
import { mapsKey, nameOfPartition, queueKeys } from "../core/keys.ts";
import { slotOf } from "../core/partition-slots.ts";
import { callOf } from "../redis/binding.ts";
import { findForeignScript } from "../redis/partition-scripts.ts";
import { replyAt } from "../redis/replies.ts";
import type { Command } from "../redis/transport.ts";
import { owning, type PartitionMap, partitionsOf, readMap, writeMap } from "./map.ts";
import type { PartitionedQueue } from "./partitioned-queue.ts";
import { putMap, replaceMap } from "./map-calls.ts";
import { resizeQueue } from "./resize.ts";

/** Pages of one partition that a call searches, and fields in each. */
const MAX_PAGES = 200;
const PAGE = 100;

/** How long a partition is not searched again, after records of slots were found that it does not own, ms. */
const SEARCH_EVERY = 600_000;

/** How far a partition was searched: in which HSCAN, under which version of the map, and not before when. */
interface Search {
  readonly text: string;
  readonly cursor: string;
  readonly notBefore: number;
}

/**
 * Gives a queue that has lost its map one again, if a registered partition has anything; continues a change of the map
 * that stopped; adds partitions to the map that producers with an old map have used; and removes former partitions from
 * it that have nothing left.
 * @param stored the map as it was read
 * @param registered the partitions that the registry has
 * @param now Redis's time, epoch ms
 * @param until when to stop, on the clock of `performance.now()`
 * @returns the partitions that may have tasks
 */
export async function keepPartitions(
  queue: PartitionedQueue,
  stored: string | null,
  registered: readonly number[],
  now: number,
  until: number,
): Promise<readonly number[]> {
  let map = readMap(stored);
  if (map.version === 0) {
    const used = await usedPartitions(queue, registered);
    // A producer that remembers the map of a queue without one notes a partition that then refuses its tasks.
    if (used.length === 0) return [];
    map = await resizeQueue(queue, Math.max(1, ...used) + 1, map);
  }
  const known = partitionsOf(map);
  const unknown = registered.filter((partition) => !known.includes(partition));
  if (unknown.length > 0) {
    const former = [...map.former, ...unknown].toSorted((one, other) => one - other);
    // It may have the settings of the time when it left the map.
    await queue.copySettings?.(queue, [...known, ...unknown], unknown, {
      testNow: queue.now ? String(now) : "",
    });
    map = await putMap(queue, map, writeMap({ ...map, former }));
  }
  if (map.next) map = await resizeQueue(queue, undefined, map);
  for (const partition of map.former) {
    if (performance.now() >= until) break;
    if (await isDone(queue, map, partition, registered, now, until)) {
      const former = map.former.filter((other) => other !== partition);
      map = await putMap(queue, map, writeMap({ ...map, former }));
    }
  }
  return partitionsOf(map);
}

/** Those of the partitions that have anything. */
async function usedPartitions(
  { name, prefix, transport, signal }: PartitionedQueue,
  partitions: readonly number[],
): Promise<number[]> {
  if (partitions.length === 0) return [];
  const commands = partitions.map((partition): Command => {
    const { tasks, schedules } = queueKeys(nameOfPartition(name, partition), prefix);
    return ["EXISTS", tasks, schedules];
  });
  const outcomes = await transport.send(commands, { signal });
  return partitions.filter((_, i) => replyAt(outcomes, i) !== 0);
}

/** Whether producers and consumers need a former partition no more. */
async function isDone(
  queue: PartitionedQueue,
  map: PartitionMap,
  partition: number,
  registered: readonly number[],
  now: number,
  until: number,
): Promise<boolean> {
  const { transport, prefix, signal } = queue;
  const keys = queueKeys(nameOfPartition(queue.name, partition), prefix);
  if (owning(map).includes(partition)) return isSearched(queue, map, partition, now, until);
  // A producer with an old map may add to it as long as it is registered.
  if (registered.includes(partition)) return false;
  const { pending, fair, limited, working, delayed, expiry, dead, schedules } = keys;
  const parts = [pending, fair, limited, working, delayed, expiry, dead, schedules];
  return replyAt(await transport.send([["EXISTS", ...parts]], { signal }), 0) === 0;
}

/** Searches a partition that still owns slots for records of others. True if there are none. */
async function isSearched(
  queue: PartitionedQueue,
  { version, owners }: PartitionMap,
  partition: number,
  now: number,
  until: number,
): Promise<boolean> {
  const { name, prefix, transport, signal } = queue;
  const field = `${name}/${partition}`;
  const keys = queueKeys(nameOfPartition(name, partition), prefix);
  const text = replyAt(await transport.send([["HGET", mapsKey(prefix), field]], { signal }), 0) as
    | string
    | null;
  const search = readSearch(text ?? "", version);
  if (search.notBefore > now) return false;
  let { cursor } = search;
  let isForeign = false;
  for (let pages = 0; pages < MAX_PAGES && performance.now() < until && !isForeign; pages++) {
    const call = callOf(findForeignScript, keys, {
      cursor,
      size: String(PAGE),
    });
    const page = findForeignScript.decode(replyAt(await transport.send([call], { signal }), 0));
    isForeign = page.names.some((found) => owners[slotOf(found.replace(/^~d:/, ""))] !== partition);
    ({ cursor } = page);
    if (cursor === "0") break;
  }
  const isOver = cursor === "0" && !isForeign;
  const next = isOver
    ? ""
    : writeSearch(version, isForeign ? "0" : cursor, isForeign ? now + SEARCH_EVERY : 0);
  await replaceMap(queue, field, { was: search.text, map: next, partitions: "" });
  return isOver;
}

const writeSearch = (version: number, cursor: string, notBefore: number) =>
  `1;${version};${cursor};${notBefore}`;

/** Reads how far a partition was searched. A search under another version of the map begins anew. */
function readSearch(text: string, version: number): Search {
  const [, found, cursor = "0", notBefore] = /^1;(\d+);(\d+);(\d+)$/.exec(text) ?? [];
  if (Number(found) !== version) return { text, cursor: "0", notBefore: 0 };
  return { text, cursor, notBefore: Number(notBefore) };
}
