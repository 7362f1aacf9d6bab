import { invalidArgument } from "../errors.ts";
import { MAX_SHARDS } from "../kernel/names/slots.ts";
import type { Call } from "../kernel/call.ts";
import { exchangeAndRead } from "../kernel/on-all.ts";
import type { Shard } from "../kernel/shard.ts";
import type { Adds } from "../kernel/store.ts";
import type { ListOptions } from "../kernel/options/types.ts";
import type { SendOptions } from "../kernel/transport.ts";
import { writeCursor } from "./filters.ts";

/** Where a run over shards is: the place of one, and the cursor there, empty for the beginning. */
interface ShardPosition {
  readonly place: number;
  readonly inner: string;
}

/**
 * Reads the cursor of a run over shards, one after the other: `<place>:<cursor there>`. A cursor from before the queue
 * was divided is one of place 0.
 * @param first the place with which a run begins
 * @throws {SluiceError} `invalid_argument`
 */
export function readShardCursor(
  cursor: string | undefined,
  kind: Parameters<typeof writeCursor>[1],
  first: number,
): ShardPosition {
  if (cursor === undefined) return { place: first, inner: "" };
  const match = typeof cursor === "string" ? /^(\d{1,2}):(.*)$/.exec(cursor) : null;
  if (!match) return { place: 0, inner: writeCursor(cursor, kind) };
  const [, place, inner = ""] = match;
  if (Number(place) >= MAX_SHARDS) {
    throw invalidArgument("cursor", "must be the cursor of an earlier call");
  }
  return { place: Number(place), inner: inner === "" ? "" : writeCursor(inner, kind) };
}

/**
 * The cursor after a page of a shard; empty after the last page of the last shard.
 * @param places of all of them, in order
 * @param inner the cursor that the shard returned; empty after its last page
 * @param begin the cursor with which the next shard begins
 */
export function cursorAfter(places: readonly number[], place: number, inner: string, begin = ""): string {
  if (inner !== "") return `${place}:${inner}`;
  const next = places.find((other) => other > place);
  return next === undefined ? "" : `${next}:${begin}`;
}

/** The places of all shards; undefined if the queue is not divided. */
export async function dividedPlaces(
  store: Adds,
  options: SendOptions,
): Promise<readonly number[] | undefined> {
  const shards = await store.shards(options);
  return shards.some(({ isPart }) => isPart) ? shards.map(({ place }) => place) : undefined;
}

/**
 * Reads a page of a list, from one shard after the other. Each request also reads which shards there are.
 * @param take takes what a shard has of the page. Returns whether the page is full
 * @returns the cursor of the next page; empty after the last
 * @throws {SluiceError} `invalid_argument` for an invalid cursor
 */
export function readOverShards<Page extends { readonly cursor: string }>(
  store: Adds,
  kind: Parameters<typeof writeCursor>[1],
  options: ListOptions,
  callOf: (shard: Shard, cursor: string) => Call<Page>,
  take: (page: Page) => boolean,
): Promise<string> {
  return store.over(async () => {
    const [first] = await store.shards(options);
    let { place, inner } = readShardCursor(options.cursor, kind, first?.place ?? 0);
    for (;;) {
      const [read] = await exchangeAndRead(store, [callOf(store.shard(place), inner)], options);
      const page = (read as () => Page)();
      const isFull = take(page);
      const places = await dividedPlaces(store, options);
      const cursor = places ? cursorAfter(places, place, page.cursor) : page.cursor;
      // A shard that is not at its end has filled the page, or was read for long enough.
      if (page.cursor !== "" || cursor === "" || isFull) return cursor;
      ({ place, inner } = readShardCursor(cursor, kind, 0));
    }
  }, options);
}
