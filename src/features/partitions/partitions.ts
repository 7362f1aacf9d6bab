import { SluiceError } from "../../errors.ts";
import { sleep } from "../../sleep.ts";
import type { QueueRef } from "../../kernel/queue-ref.ts";
import { Shard } from "../../kernel/shard.ts";
import { mapsKey, nameOfShard } from "../../kernel/names/keys.ts";
import { namedPlace, slotOf } from "../../kernel/names/slots.ts";
import type { Command } from "../../kernel/transport.ts";
import { isDown } from "./databases.ts";
import { forgetMap, isKnownSplit, knownMap, placeOfMap, rememberMap } from "./map-memory.ts";
import { overtaken } from "./lost-map.ts";
import { fetchMap, setOwned } from "./map-calls.ts";
import { readMarker } from "./marker.ts";
import { owning, partitionsOf, type PartitionMap } from "./map.ts";
import type { PartitionedQueue } from "./partitioned-queue.ts";
import { resizeQueue } from "./resize.ts";

/** Most pauses of a call while the slot of one of its tasks changes hands, and the length of each, ms. */
const MAX_PAUSES = 40;
const PAUSE = 25;

/** How long a partition counts as full after it has refused tasks, ms. */
const FULL_FOR = 10_000;

/** The partitions of one queue: their keys, and which of them has which task. */
export class Partitions {
  readonly queue: QueueRef;
  /** How many a queue without a map gets; undefined to give it none. */
  readonly #wanted: number | undefined;
  readonly #place: string;
  readonly #plain: Shard;
  readonly #shards: Shard[] = [];
  /** Whether the queue had a map when this was last found out. */
  #isSplit: boolean;
  /** For how many tasks a partition last had no room, and when that was, by this instance's clock. */
  readonly #full = new Map<number, { readonly count: number; readonly at: number }>();

  /** @param wanted how many partitions a queue without a map gets. @default it gets no map */
  constructor(queue: QueueRef, wanted?: number) {
    this.queue = queue;
    this.#wanted = wanted;
    this.#place = placeOfMap(queue.name, queue.prefix);
    this.#plain = new Shard(queue);
    this.#isSplit = isKnownSplit(queue.transport, this.#place);
  }

  /** Whether the queue is known to have partitions. Once it has, it keeps them. */
  get isSplit(): boolean {
    return this.#isSplit;
  }

  /** The shard of a partition; of a queue without partitions, for 0, its own. */
  shard(partition: number): Shard {
    if (partition === 0 && !this.#isSplit) return this.#plain;
    const { queue } = this;
    return (this.#shards[partition] ??= new Shard(queue, partition, nameOfShard(queue.name, partition)));
  }

  /** The map, which this instance reads once a minute. A queue without a map gets one. */
  async map(signal?: AbortSignal): Promise<PartitionMap> {
    const found = knownMap(this.queue.transport, this.#place);
    const isComplete = this.#wanted === undefined && !this.#isSplit;
    if (found && (found.version > 0 || isComplete)) return this.#noted(found);
    const map = await fetchMap(this.#queue(signal));
    if (map.version > 0 || isComplete) return this.remember(map);
    if (this.#wanted !== undefined) {
      return this.remember(await resizeQueue(this.#queue(signal), this.#wanted, map));
    }
    // Redis has lost the map. Without markers it has lost the whole change.
    this.#isSplit = false;
    return this.remember((await this.#marked(signal)) ?? map);
  }

  /**
   * Finds out whether the keys of the queue hold markers, so that it has partitions.
   * @returns whether it has
   */
  async find(signal?: AbortSignal): Promise<boolean> {
    if (this.#isSplit) return true;
    const map = await this.#marked(signal);
    if (map) this.remember(map);
    return this.#isSplit;
  }

  /** The map, if the keys of the queue hold markers. If another caller has not given it the first one yet, this does. */
  async #marked(signal: AbortSignal | undefined): Promise<PartitionMap | undefined> {
    const queue = this.#queue(signal);
    const marked = await readMarker(queue);
    if (!marked || marked.map.version > 0) return marked?.map;
    return resizeQueue(queue, marked.count, marked.map);
  }

  /** The command that reads the map. Call `remember` with what it returns. */
  readCommand(): Command {
    return ["HGET", mapsKey(this.queue.prefix), this.queue.name];
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
    const queue = this.#queue(signal);
    let map = await resizeQueue(queue, undefined, await fetchMap(queue));
    if (map.version === 0) return this.storedMap(signal);
    if (map.text === stale.text && !map.next) {
      const owned = await setOwned(queue, map.version, map.owners, owning(map));
      if ("newer" in owned) map = await resizeQueue(queue, undefined, await overtaken(queue, map));
      if (map.version === 0) return this.storedMap(signal);
    }
    return this.remember(map);
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
    const anywhere = /^(?:[0-9A-Za-z]{20}|[0-9A-Za-z]{22}|.*\{\d+\})$/.test(id) ? owning(map) : [];
    return [...new Set([named, map.owners[slotOf(id)] as number, ...map.former, 0, ...anywhere].flat())];
  }

  /** Whether the database of a partition could not be reached a short time ago. */
  isDown(partition: number): boolean {
    return isDown(this.queue.transport, partition);
  }

  /** Takes note that a partition had no room for so many tasks, because its share of `maxPending` is used up. */
  noteFull(partition: number, count: number): void {
    this.#full.set(partition, { count, at: Date.now() });
  }

  /** Whether so many new tasks without a slot should go elsewhere, if they can. */
  shuns(partition: number, count: number): boolean {
    const full = this.#full.get(partition);
    const age = full && full.count <= count ? Date.now() - full.at : -1;
    return (age >= 0 && age < FULL_FOR) || this.isDown(partition);
  }

  /** Whether any partition may have room for so many new tasks without a slot. */
  async mayHaveRoom(count: number, signal?: AbortSignal): Promise<boolean> {
    return owning(await this.map(signal)).some((partition) => !this.shuns(partition, count));
  }

  /** All partitions that may have tasks. */
  async all(signal?: AbortSignal): Promise<number[]> {
    return partitionsOf(await this.map(signal));
  }

  /** Makes this instance read the map again, because the queue has more partitions. */
  forget(): void {
    forgetMap(this.queue.transport, this.#place);
  }

  /** Uses this map from now on, as it was just read. */
  remember(map: PartitionMap): PartitionMap {
    return this.#noted(rememberMap(this.queue.transport, this.#place, map));
  }

  #noted(map: PartitionMap): PartitionMap {
    this.#isSplit ||= map.version > 0;
    return map;
  }

  #queue(signal: AbortSignal | undefined): PartitionedQueue {
    return { ...this.queue, signal };
  }
}
