/** When a former partition may leave the map of its queue. */
import { commandCall, run } from "../../kernel/call.ts";
import { mapsKey, nameOfShard } from "../../kernel/names/keys.ts";
import { slotOf } from "../../kernel/names/slots.ts";
import { replaceMap } from "./map-calls.ts";
import { MAP_AGE } from "./map-memory.ts";
import { owning, type PartitionMap } from "./map.ts";
import { partitionOf, type PartitionedQueue } from "./partitioned-queue.ts";
import { findForeignScript } from "./upkeep-scripts.ts";

/** Pages of one partition that a call searches if a later one can go on, and fields in each. */
const MAX_PAGES = 200;
const PAGE = 100;

/** How long a partition is not searched again, after records of slots were found that it does not own, ms. */
const SEARCH_EVERY = 600_000;

/** By how much the clock of a partition's Redis may be behind that of the registry's, ms. */
const CLOCK_SKEW = 60_000;

/** How far a partition was searched under one version of the map. */
interface Search {
  /** As it was read. */
  readonly text: string;
  /** Of HSCAN. */
  readonly cursor: string;
  /** The run of Redis in which the cursor is valid. After a restart it may leave out records. */
  readonly run: string;
  /** When to look next, epoch ms. */
  readonly notBefore: number;
  /** When the search under this version began, epoch ms. Keyed calls have since added only to the partition's own slots. */
  readonly since: number;
}

/** A sweep that asks. */
interface Asking {
  /** The partitions that the registry has. */
  readonly registered: readonly number[];
  /** Redis's time, epoch ms. */
  readonly now: number;
  /** When to stop, on the clock of `performance.now()`. */
  readonly until: number;
}

/** Whether producers and consumers no longer need a former partition. */
export async function isDone(
  queue: PartitionedQueue,
  map: PartitionMap,
  partition: number,
  by: Asking,
): Promise<boolean> {
  const { name, prefix, transport } = queue;
  const field = nameOfShard(name, partition);
  const stored = commandCall(["HGET", mapsKey(prefix), field], (reply) => (reply as string | null) ?? "");
  const search = readSearch(await run(transport, stored, queue), map.version, by.now);
  if (search.notBefore > by.now) return false;
  const look = owning(map).includes(partition) ? searched : emptied;
  const next = await look(queue, map, partition, search, by);
  const text = next ? writeSearch(map.version, next) : "";
  if (text !== search.text) await replaceMap(queue, field, { was: search.text, map: text, partitions: "" });
  return next === undefined;
}

/** Looks whether a partition that owns no slots is empty. @returns undefined if it is */
async function emptied(
  queue: PartitionedQueue,
  _: PartitionMap,
  partition: number,
  search: Search,
  { registered, now }: Asking,
): Promise<Search | undefined> {
  // Until then a producer may use an older map. Later it may still add tasks, if it was paused: a sweep puts the
  // partition back into the map.
  const notBefore = search.since + 2 * MAP_AGE;
  if (now < notBefore) return { ...search, notBefore };
  if (registered.includes(partition)) return search;
  const { pending, fair, limited, working, delayed, expiry, dead, schedules } = partitionOf(
    queue,
    partition,
  ).keys;
  const parts = [pending, fair, limited, working, delayed, expiry, dead, schedules];
  const isEmpty = commandCall(["EXISTS", ...parts], (reply) => reply === 0);
  return (await run(queue.transport, isEmpty, queue)) ? undefined : search;
}

/** Searches a partition that still owns slots for records of others. @returns undefined if there are none */
async function searched(
  queue: PartitionedQueue,
  { owners }: PartitionMap,
  partition: number,
  search: Search,
  { now, until }: Asking,
): Promise<Search | undefined> {
  const shard = partitionOf(queue, partition);
  const before = String(search.since + CLOCK_SKEW);
  let { cursor, run: redisRun } = search;
  const mayGoOn = (pages: number) => pages < MAX_PAGES || redisRun === "";
  for (let pages = 0; mayGoOn(pages) && performance.now() < until; pages++) {
    const call = shard.call(findForeignScript, { cursor, size: String(PAGE), before });
    const page = await run(queue.transport, call, queue);
    if (page.names.some((found) => isForeign(found, owners, partition))) {
      return { ...search, cursor: "0", notBefore: now + SEARCH_EVERY };
    }
    const isValid = cursor === "0" || page.run === redisRun;
    if (isValid && page.cursor === "0") return undefined;
    cursor = isValid ? page.cursor : "0";
    redisRun = page.run;
  }
  // Where the run is not known, a search has to end in one sweep.
  return { ...search, cursor: redisRun === "" ? "0" : cursor, run: redisRun, notBefore: 0 };
}

/**
 * Whether a partition is no longer the one to ask about a name that it knows. An id that derives from an idempotency key
 * says nothing of the slot by which its task was placed: that may be the slot of a group, or of a dedup key that is
 * forgotten. So those from before the search count until they are forgotten.
 */
function isForeign(name: string, owners: readonly number[], partition: number): boolean {
  return name.startsWith("~k:") || owners[slotOf(name.replace(/^~d:/, ""))] !== partition;
}

const writeSearch = (version: number, { cursor, run, notBefore, since }: Search) =>
  `1;${version};${cursor};${run};${notBefore};${since}`;

/** Reads how far a partition was searched. A search under another version of the map begins anew. */
function readSearch(text: string, version: number, now: number): Search {
  const match = /^1;(\d+);(\d+);(\w*);(\d+);(\d+)$/.exec(text);
  const [, found, cursor = "0", run = "", notBefore, since] = match ?? [];
  if (Number(found) !== version) return { text, cursor: "0", run: "", notBefore: 0, since: now };
  return { text, cursor, run, notBefore: Number(notBefore), since: Number(since) };
}
