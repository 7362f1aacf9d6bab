/** When a former partition may leave the map of its queue. */
import { mapsKey, nameOfShard, queueKeys } from "../../kernel/names/keys.ts";
import { slotOf } from "../../kernel/names/slots.ts";
import { callOf } from "../../kernel/scripts/binding.ts";
import { findForeignScript } from "./upkeep-scripts.ts";
import { replyAt } from "../../kernel/scripts/replies.ts";
import { replaceMap } from "./map-calls.ts";
import { MAP_AGE } from "./map-memory.ts";
import { owning, type PartitionMap } from "./map.ts";
import type { PartitionedQueue } from "./partitioned-queue.ts";

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

/** Whether producers and consumers need a former partition no more. */
export async function isDone(
  queue: PartitionedQueue,
  map: PartitionMap,
  partition: number,
  by: Asking,
): Promise<boolean> {
  const { name, prefix, transport, signal } = queue;
  const field = `${name}/${partition}`;
  const read = await transport.send([["HGET", mapsKey(prefix), field]], { signal });
  const search = readSearch((replyAt(read, 0) as string | null) ?? "", map.version, by.now);
  if (search.notBefore > by.now) return false;
  const isOwner = owning(map).includes(partition);
  const next = isOwner
    ? await searched(queue, map, partition, search, by)
    : await emptied(queue, partition, search, by);
  const text = next ? writeSearch(map.version, next) : "";
  if (text !== search.text) await replaceMap(queue, field, { was: search.text, map: text, partitions: "" });
  return next === undefined;
}

/** Looks whether a partition that owns no slots is empty. @returns undefined if it is */
async function emptied(
  queue: PartitionedQueue,
  partition: number,
  search: Search,
  { registered, now }: Asking,
): Promise<Search | undefined> {
  // Until then a producer may use an older map. Later it may still add tasks, if it was paused: a sweep puts the
  // partition back into the map.
  const notBefore = search.since + 2 * MAP_AGE;
  if (now < notBefore) return { ...search, notBefore };
  if (registered.includes(partition)) return search;
  const keys = queueKeys(nameOfShard(queue.name, partition), queue.prefix);
  const { pending, fair, limited, working, delayed, expiry, dead, schedules } = keys;
  const parts = [pending, fair, limited, working, delayed, expiry, dead, schedules];
  const found = await queue.transport.send([["EXISTS", ...parts]], { signal: queue.signal });
  return replyAt(found, 0) === 0 ? undefined : search;
}

/** Searches a partition that still owns slots for records of others. @returns undefined if there are none */
async function searched(
  { name, prefix, transport, signal }: PartitionedQueue,
  { owners }: PartitionMap,
  partition: number,
  search: Search,
  { now, until }: Asking,
): Promise<Search | undefined> {
  const keys = queueKeys(nameOfShard(name, partition), prefix);
  let { cursor, run } = search;
  const mayGoOn = (pages: number) => pages < MAX_PAGES || run === "";
  for (let pages = 0; mayGoOn(pages) && performance.now() < until; pages++) {
    const call = callOf(findForeignScript, keys, {
      cursor,
      size: String(PAGE),
      before: String(search.since + CLOCK_SKEW),
    });
    const page = findForeignScript.decode(replyAt(await transport.send([call], { signal }), 0));
    if (page.names.some((found) => isForeign(found, owners, partition))) {
      return { ...search, cursor: "0", notBefore: now + SEARCH_EVERY };
    }
    const isValid = cursor === "0" || page.run === run;
    if (isValid && page.cursor === "0") return undefined;
    cursor = isValid ? page.cursor : "0";
    ({ run } = page);
  }
  // Where the run is not known, a search has to end in one sweep.
  return { ...search, cursor: run === "" ? "0" : cursor, run, notBefore: 0 };
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
