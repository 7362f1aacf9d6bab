import { slotOf } from "../core/partition-slots.ts";
import { groupedBy } from "../core/slices.ts";
import type { Partitions } from "../partitions/partitions.ts";
import type { enqueueScript } from "../redis/task-scripts.ts";
import { ENQUEUE_ERRORS } from "./enqueue-errors.ts";
import type { EnqueueItem } from "./encode-tasks.ts";

export type EnqueueReply = ReturnType<typeof enqueueScript.decode>;

/** The tasks of one call that go to the same partition. */
interface PartitionPart {
  readonly partition: number;
  readonly items: readonly EnqueueItem[];
  /** The slots that the partition must own, as the script takes them. */
  readonly slots: string;
}

/** Sends tasks to partitions, in one request. @returns one reply for each part */
export type SendToPartitions = (parts: readonly PartitionPart[]) => Promise<readonly EnqueueReply[]>;

/** A task on its way, and its place in the call. */
interface PlacedItem {
  readonly item: EnqueueItem;
  readonly slot: number | undefined;
  readonly place: number;
}

/**
 * Adds tasks to the partitions that own their slots, in one request. If a slot has changed hands, it reads the
 * map again, and sends the tasks of that partition again, to another one.
 * @returns as one call of the script
 * @throws {SluiceError} if a partition refuses its tasks. Those of other partitions may have been added
 */
export async function addToPartitions(
  partitions: Partitions,
  items: readonly EnqueueItem[],
  send: SendToPartitions,
  signal: AbortSignal | undefined,
): Promise<{ added: EnqueueReply["tasks"][number][]; wake: boolean }> {
  const added: EnqueueReply["tasks"][number][] = [];
  let wake = false;
  let map = await partitions.map(signal);
  let rest = items.map((item, place): PlacedItem => {
    const { placedBy } = item;
    return { item, place, slot: placedBy === undefined ? undefined : slotOf(placedBy) };
  });
  for (let tries = 1; rest.length > 0; tries++) {
    const byPartition = groupedBy(rest, ({ item, slot }) => partitions.ownerOf(item.id, slot, map));
    const groups = Array.from(byPartition, ([partition, own]) => ({ partition, own }));
    const replies = await send(
      groups.map(({ partition, own }) => ({
        partition,
        items: own.map(({ item }) => item),
        slots: [...new Set(own.flatMap(({ slot }) => slot ?? []))].join(),
      })),
    );
    rest = [];
    for (const [i, { refused, wake: wakeHere, tasks }] of replies.entries()) {
      const own = groups[i]?.own ?? [];
      wake ||= wakeHere;
      if (refused === "moved") rest.push(...own);
      else if (refused) throw ENQUEUE_ERRORS[refused](partitions.name);
      else for (const [j, { place }] of own.entries()) added[place] = tasks[j] as (typeof tasks)[number];
    }
    if (rest.length > 0) map = await partitions.refresh(map, tries, signal);
  }
  return { added, wake };
}
