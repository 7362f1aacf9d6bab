import { SluiceError } from "../../errors.ts";
import { slotOf, namedPlace } from "../../kernel/names/slots.ts";
import type { QueueRef } from "../../kernel/queue-ref.ts";
import { Shard } from "../../kernel/shard.ts";
import type { Adds } from "../../kernel/store.ts";
import { sleep } from "../../sleep.ts";
import { isDown } from "./databases.ts";
import { fetchMap, setOwned } from "./map-calls.ts";
import { forgetMap, isKnownSplit, knownMap, rememberMap } from "./map-memory.ts";
import { owning, partitionsOf, type PartitionMap } from "./map.ts";
import { partitionOf } from "./partitioned-queue.ts";
import { markedMap, overtaken, resizeQueue } from "./resize.ts";

/** Most pauses of a call while the slot of one of its tasks changes hands, and the length of each, ms. */
const MAX_PAUSES = 40;
const PAUSE = 25;

/** A generated id that says nothing of the slot of its task's group or dedup key, and one with a tag. */
const ANYWHERE = /^(?:[0-9A-Za-z]{20}|[0-9A-Za-z]{22}|.*\{\d+\})$/;

/** The partitions of a queue that has some, or is to get some, and the store over them. */
export interface Divided<S extends Adds> {
  readonly partitions: Partitions;
  readonly store: S;
}

/** The partitions of one queue: their keys, and which of them has which task. */
export class Partitions {
  readonly queue: QueueRef;
  /** How many a queue without a map gets; undefined to give it none. */
  readonly #wanted: number | undefined;
  readonly #plain: Shard;
  readonly #shards: Shard[] = [];
  /** Whether the queue had a map when this was last found out. */
  #isSplit: boolean;

  /** @param wanted how many partitions a queue without a map gets. @default it gets no map */
  constructor(queue: QueueRef, wanted?: number) {
    this.queue = queue;
    this.#wanted = wanted;
    this.#plain = new Shard(queue);
    this.#isSplit = isKnownSplit(queue);
  }

  /** Whether the queue is known to have partitions. Once it has, it keeps them. */
  get isSplit(): boolean {
    return this.#isSplit;
  }

  /** The shard of a partition; of a queue without partitions, for 0, its own. */
  shard(partition: number): Shard {
    if (partition === 0 && !this.#isSplit) return this.#plain;
    return (this.#shards[partition] ??= partitionOf(this.queue, partition));
  }

  /** The map, which this instance reads once a minute. A queue without a map gets one. */
  async map(signal?: AbortSignal): Promise<PartitionMap> {
    const found = knownMap(this.queue);
    const isComplete = this.#wanted === undefined && !this.#isSplit;
    if (found && (found.version > 0 || isComplete)) return this.#noted(found);
    const queue = { ...this.queue, signal };
    const map = await fetchMap(queue);
    if (map.version > 0 || isComplete) return this.remember(map);
    if (this.#wanted !== undefined) return this.remember(await resizeQueue(queue, this.#wanted, map));
    // Redis has lost the map. Without markers it has lost the whole change.
    this.#isSplit = false;
    return this.remember((await markedMap(queue)) ?? map);
  }

  /**
   * Finds out whether the keys of the queue hold markers, so that it has partitions.
   * @returns whether it has
   */
  async find(signal?: AbortSignal): Promise<boolean> {
    const map = this.#isSplit ? undefined : await markedMap({ ...this.queue, signal });
    if (map) this.remember(map);
    return this.#isSplit;
  }

  /** The map as it is stored now. */
  async storedMap(signal?: AbortSignal): Promise<PartitionMap> {
    this.forget();
    return this.map(signal);
  }

  /**
   * The map after a partition has answered that it does not own a slot. If the map has not changed, the
   * partition has lost its note: then it gets it again.
   * @param tries how often the call was answered so
   */
  async refresh(stale: PartitionMap, tries: number, signal?: AbortSignal): Promise<PartitionMap> {
    if (tries > MAX_PAUSES) {
      throw new SluiceError("redis_unreachable", "the partitions of the queue change; try again");
    }
    // Another caller changes the map just now: it needs some requests more.
    if (tries > 1) await sleep(PAUSE, signal);
    const queue = { ...this.queue, signal };
    let map = await resizeQueue(queue, undefined, await fetchMap(queue));
    if (map.version > 0 && map.text === stale.text && !map.next) {
      const owned = await setOwned(queue, map.version, map.owners, owning(map));
      if (!owned) map = await resizeQueue(queue, undefined, await overtaken(queue, map));
    }
    return map.version === 0 ? this.storedMap(signal) : this.remember(map);
  }

  /** The partition to which a new task goes: that which its id names, or the owner of its slot. */
  ownerOf(id: string, slot: number | undefined, map: PartitionMap): number {
    if (map.version === 0) return 0;
    return slot === undefined ? (namedPlace(id) ?? 0) : (map.owners[slot] as number);
  }

  /** The partitions that may have a task, the likeliest first. */
  async having(id: string, signal?: AbortSignal): Promise<number[]> {
    const map = await this.map(signal);
    // A caller may have chosen an id of this form, such as that of a task of another queue.
    const named = namedPlace(id) ?? [];
    // A generated id that was made before the queue had partitions, or derives from an idempotency key, says nothing of
    // the slot of the task's group or dedup key. One with a tag stays where it was added, although its slot may have
    // changed hands since: no producer asks for it.
    const anywhere = ANYWHERE.test(id) ? owning(map) : [];
    return [...new Set([named, map.owners[slotOf(id)] as number, ...map.former, 0, ...anywhere].flat())];
  }

  /** Whether the database of a partition could not be reached a short time ago. */
  isDown(partition: number): boolean {
    return isDown(this.queue.transport, partition);
  }

  /**
   * What is read of a partition; undefined if its database could not be reached a short time ago.
   * @param note called with the error then
   */
  unlessDown<T>(partition: number, read: () => T, note?: (error: unknown) => void): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!this.isDown(partition)) throw error;
      note?.(error);
      return undefined;
    }
  }

  /** All partitions that may have tasks. */
  async all(signal?: AbortSignal): Promise<number[]> {
    return partitionsOf(await this.map(signal));
  }

  /** Makes this instance read the map again, because the queue has more partitions. */
  forget(): void {
    forgetMap(this.queue);
  }

  /** Uses this map from now on, as it was just read. */
  remember(map: PartitionMap): PartitionMap {
    return this.#noted(rememberMap(this.queue, map));
  }

  #noted(map: PartitionMap): PartitionMap {
    this.#isSplit ||= map.version > 0;
    return map;
  }
}
