import { onAll } from "../kernel/on-all.ts";
import type { Shard } from "../kernel/shard.ts";
import type { Adds } from "../kernel/store.ts";
import type { Call } from "../kernel/call.ts";
import type { SendOptions } from "../kernel/transport.ts";

/** What has a place in a zset: its score, and its id. */
interface Placed {
  readonly id: string;
  /** As Redis writes it. */
  readonly score: string;
}

/** A page, the last entries first. */
interface Backwards<Entry extends Placed> {
  /** The place after which there are more; empty if there are none. */
  readonly cursor: string;
  readonly tasks: readonly Entry[];
  readonly unreadable: number;
  /** How many entries were looked at, and how many of these have values that a search cannot read. */
  readonly looked: number;
  readonly sealed: number;
}

/**
 * Reads a page of a list that is read backwards, of all shards as if they were one. A place, `<score> <id>`, is the
 * same in each shard, so one cursor is for all of them.
 * @returns the page, and its cursor; empty after the last
 */
export async function readBackwards<Entry extends Placed>(
  store: Adds,
  size: number,
  callOf: (shard: Shard) => Call<Backwards<Entry>>,
  options: SendOptions,
): Promise<Backwards<Entry>> {
  const pages = [...(await onAll(store, callOf, options)).values()];
  // A shard has looked no further than to its cursor. What others have beyond the nearest one must wait.
  const [bound = ""] = pages.flatMap(({ cursor }) => cursor || []).toSorted(lastFirst);
  const found = pages
    .flatMap(({ tasks }) => tasks)
    .filter((entry) => bound === "" || lastFirst(placeOf(entry), bound) <= 0)
    .toSorted((one, other) => lastFirst(placeOf(one), placeOf(other)));
  const tasks = found.slice(0, size);
  const last = tasks.at(-1);
  return {
    tasks,
    cursor: last && found.length > size ? placeOf(last) : bound,
    unreadable: pages.reduce((sum, { unreadable }) => sum + unreadable, 0),
    looked: pages.reduce((sum, { looked }) => sum + looked, 0),
    sealed: pages.reduce((sum, { sealed }) => sum + sealed, 0),
  };
}

const placeOf = ({ id, score }: Placed) => `${score} ${id}`;

/** Compares places: by their scores, and by their ids as Redis does. */
function lastFirst(one: string, other: string): number {
  const [score = "", id = ""] = one.split(" ");
  const [otherScore = "", otherId = ""] = other.split(" ");
  const difference = Number(otherScore) - Number(score);
  if (difference !== 0) return difference;
  return id === otherId ? 0 : id < otherId ? 1 : -1;
}
