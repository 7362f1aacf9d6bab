/** What a sweep does for a queue with partitions, beside sweeping each of them. */
import { commandCall, runAll } from "../../kernel/call.ts";
import { isDone } from "./former.ts";
import { inOrder, partitionsOf, readMap, writeMap } from "./map.ts";
import { putMap } from "./map-calls.ts";
import { partitionOf, type PartitionedQueue } from "./partitioned-queue.ts";
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
    // It may have the settings of the time when it left the map.
    await queue.copySettings?.(queue, [...known, ...unknown], unknown);
    map = await putMap(queue, map, writeMap({ ...map, former: inOrder([...map.former, ...unknown]) }));
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
async function usedPartitions(queue: PartitionedQueue, partitions: readonly number[]): Promise<number[]> {
  const calls = partitions.map((partition) => {
    const { tasks, schedules } = partitionOf(queue, partition).keys;
    return commandCall(["EXISTS", tasks, schedules], (reply) => reply !== 0);
  });
  const used = await runAll(queue.transport, calls, queue);
  return partitions.filter((_, i) => used[i]);
}
