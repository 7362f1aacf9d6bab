/** What a sweep does for a queue with partitions, beside sweeping each of them. */
import { nameOfShard, queueKeys } from "../../kernel/names/keys.ts";
import { replyAt } from "../../kernel/scripts/replies.ts";
import type { Command } from "../../kernel/transport.ts";
import { isDone } from "./former.ts";
import { partitionsOf, readMap, writeMap } from "./map.ts";
import { putMap } from "./map-calls.ts";
import type { PartitionedQueue } from "./partitioned-queue.ts";
import { resizeQueue } from "./resize.ts";

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
    if (await isDone(queue, map, partition, { registered, now, until })) {
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
    const { tasks, schedules } = queueKeys(nameOfShard(name, partition), prefix);
    return ["EXISTS", tasks, schedules];
  });
  const outcomes = await transport.send(commands, { signal });
  return partitions.filter((_, i) => replyAt(outcomes, i) !== 0);
}
