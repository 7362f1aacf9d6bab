/** What a sweep does for queues with partitions, besides sweeping each of them. */
import type { Shard } from "../../kernel/shard.ts";
import { SluiceError } from "../../errors.ts";
import { mapsKey, readShardName, registryKey } from "../../kernel/names/keys.ts";
import { groupedBy, slicesOf } from "../../kernel/slices.ts";
import { callOf } from "../../kernel/scripts/binding.ts";
import { setIdleScript } from "./turn-scripts.ts";
import { commandCall, exchange, runAll } from "../../kernel/call.ts";
import type { QueueRef } from "../../kernel/queue-ref.ts";
import type { Command } from "../../kernel/transport.ts";
import type { CurrentSweep, SweepPart } from "../../sweep/part.ts";
import type { RegisteredShard, RegistryPage } from "../../sweep/registry.ts";
import { addsTo } from "./add.ts";
import { copySettings, prepareChange } from "./copy-settings.ts";
import { isDone } from "./former.ts";
import { putMap } from "./map-calls.ts";
import { inOrder, partitionsOf, readMap, writeMap } from "./map.ts";
import { markersCall, moveNotes, renameKeys } from "./marker.ts";
import { partitionOf, type PartitionedQueue } from "./partitioned-queue.ts";
import { Partitions } from "./partitions.ts";
import { markedMap, resizeQueue } from "./resize.ts";
import { rebalanceShares } from "./shares.ts";

/** Partitions noted by one command. */
const NOTED_PER_COMMAND = 200;

/** What adds the occurrences of schedules to the partition of each. */
export const addsOfPartitions = (queue: QueueRef, onUse?: (shard: Shard) => void) => ({
  add: addsTo(new Partitions(queue), onUse),
});

/** Keeps the maps and the shares of queues with partitions, and notes which partitions have nothing to do. */
export const partitionsPart: SweepPart = (sweep) => ({
  notesOf: (empty) => setIdleCalls(empty, sweep.options.prefix),
  after: async (page) => keepQueues(sweep, page, await moveMarked(sweep)),
});

function setIdleCalls(empty: readonly RegisteredShard[], prefix: string | undefined): Command[] {
  const partitions = empty.filter(({ name, isIdle, seenAt }) => name.includes("/") && !isIdle && seenAt > 0);
  return slicesOf(partitions, NOTED_PER_COMMAND).map((slice) => {
    const items = slice.map(({ name, seenAt }) => ({ name, seen: String(seenAt), idle: String(-seenAt) }));
    return callOf(setIdleScript, { queues: registryKey(prefix) }, {}, items);
  });
}

/**
 * Gives partition 0 what the registry still has of queues that have got partitions, as their markers show.
 * @returns these queues
 */
async function moveMarked(sweep: CurrentSweep): Promise<string[]> {
  const moved: string[] = [];
  for (const name of sweep.marked) {
    const queue = queueOf(sweep, name);
    try {
      if (!(await markedMap(queue))) continue;
      await moveNotes(queue);
      sweep.failed.delete(name);
      sweep.failedParts.delete(name);
      moved.push(name);
    } catch (error) {
      if (!(error instanceof SluiceError) || error.code === "aborted") throw error;
      sweep.failed.set(name, error.code);
    }
  }
  sweep.marked.clear();
  return moved;
}

/**
 * Keeps the maps and the shares of the queues with partitions.
 * @param moved queues that are not on the page as having partitions
 */
async function keepQueues(
  sweep: CurrentSweep,
  { queues, divided, now }: RegistryPage,
  moved: readonly string[],
): Promise<void> {
  const partitions = queues.filter(({ name }) => name.includes("/")).map(({ name }) => readShardName(name));
  const found = groupedBy(partitions, ({ queue }) => queue);
  const names = [...new Set([...divided, ...moved, ...found.keys()])].filter(sweep.isWanted);
  if (names.length === 0) return;
  const { prefix, signal } = sweep.options;
  const markers = names.map((name) => markersCall({ name, prefix }));
  const mapsCall = commandCall(["HMGET", mapsKey(prefix), ...names], (reply) => reply as (string | null)[]);
  const [readMaps, ...marks] = await exchange(sweep.transport, [mapsCall, ...markers], { signal });
  const maps = readMaps();
  for (const [i, name] of names.entries()) {
    const queue = queueOf(sweep, name);
    const registered = (found.get(name) ?? []).map(({ place }) => place);
    try {
      // Redis has lost the change that put them there. The count of a marker matters only while there is no map.
      if (marks[i]?.().includes(null) && maps[i] != null) await renameKeys(queue, 2);
      const wake = sweep.wakeWindow(name);
      const onWake = () => sweep.toWake.add(name);
      const kept = await keepPartitions(
        queue,
        maps[i] ?? null,
        registered,
        now,
        sweep.deadline,
        wake,
        onWake,
      );
      if (await rebalanceShares(queue, kept, wake)) onWake();
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      sweep.failed.set(name, error.code);
    }
  }
}

function queueOf({ transport, options }: CurrentSweep, name: string): PartitionedQueue {
  const { prefix, signal, now } = options;
  return { name, prefix, transport, signal, now, prepare: prepareChange };
}

/**
 * Gives a queue that has lost its map one again, if a registered partition has anything; continues a change of the map
 * that stopped; adds partitions to the map that producers with an old map have used; and removes former partitions from
 * it that have nothing left.
 * @param stored the map as it was read
 * @param registered the partitions that the registry has
 * @param now Redis's time, epoch ms
 * @param until when to stop, on the clock of `performance.now()`
 * @param wake how long a wake of a consumer counts, ms, as the scripts take it
 * @param onWake called if a consumer must be woken
 * @returns the partitions that may have tasks
 */
async function keepPartitions(
  queue: PartitionedQueue,
  stored: string | null,
  registered: readonly number[],
  now: number,
  until: number,
  wake: string,
  onWake: () => void,
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
    await copySettings(queue, [...known, ...unknown], unknown);
    map = await putMap(queue, map, writeMap({ ...map, former: inOrder([...map.former, ...unknown]) }));
  }
  if (map.next) map = await resizeQueue(queue, undefined, map);
  // A group in strict order waits until a former partition has ended its tasks.
  if (await queue.transport.passTurns?.(queue, map, wake, onWake, until)) return partitionsOf(map);
  for (const partition of map.former) {
    if (performance.now() >= until) break;
    if (await isDone(queue, map, partition, { registered, now, until })) {
      const former = map.former.filter((other) => other !== partition);
      map = await putMap(queue, map, writeMap({ ...map, former }));
    }
  }
  return partitionsOf(map);
}

/** Which of the partitions have anything in their keys. */
async function usedPartitions(queue: PartitionedQueue, partitions: readonly number[]): Promise<number[]> {
  const calls = partitions.map((partition) => {
    const { tasks, schedules } = partitionOf(queue, partition).keys;
    return commandCall(["EXISTS", tasks, schedules], (reply) => reply !== 0);
  });
  const used = await runAll(queue.transport, calls, queue);
  return partitions.filter((_, i) => used[i]);
}
