import type { Bytes } from "../bytes.ts";
import { Arguments, commands, oneKey, type Context, type Words } from "../command.ts";
import { formatDouble, readIndex } from "../numbers.ts";
import { ReplyError, syntaxError, type Value } from "../reply.ts";
import { SortedSet, type Scored } from "../values/sorted-set.ts";
import { memberRange, placesByRank, scoreRange, type Places } from "./ranges.ts";

type By = "RANK" | "SCORE" | "LEX";

/** What a range command takes. ZRANGE reads it from its options; the others have it in their names. */
interface Form {
  readonly by: By;
  readonly reverse: boolean;
  /** Whether it accepts BYSCORE, BYLEX and REV. */
  readonly isFree: boolean;
  /** Whether it accepts WITHSCORES. @default true */
  readonly repliesScores?: false;
}

const FREE: Form = { by: "RANK", reverse: false, isFree: true };

const form = (by: By, reverse: boolean) => (context: Context, words: Words) =>
  range(context, words, { by, reverse, isFree: false });

export const sortedSetRangeCommands = commands(
  ["@sortedset"],
  [
    ["zrange", -4, "readonly", oneKey, (context, words) => range(context, words, FREE)],
    ["zrangestore", -5, "write denyoom", { first: 1, last: 2, step: 1 }, storeRange],
    ["zrevrange", -4, "readonly", oneKey, form("RANK", true)],
    ["zrangebyscore", -4, "readonly", oneKey, form("SCORE", false)],
    ["zrevrangebyscore", -4, "readonly", oneKey, form("SCORE", true)],
    ["zrangebylex", -4, "readonly", oneKey, form("LEX", false)],
    ["zrevrangebylex", -4, "readonly", oneKey, form("LEX", true)],
    [
      "zcount",
      4,
      "readonly fast",
      oneKey,
      (context, [, key = "", min = "", max = ""]) => count(context, key, scoreRange(min, max)),
    ],
    [
      "zlexcount",
      4,
      "readonly fast",
      oneKey,
      (context, [, key = "", min = "", max = ""]) => count(context, key, memberRange(min, max)),
    ],
    [
      "zremrangebyrank",
      4,
      "write",
      oneKey,
      (context, [, key = "", first = "", last = ""]) => {
        const [from, to] = [readIndex(first), readIndex(last)];
        return remove(context, key, (set) => placesByRank(set, from, to, false));
      },
    ],
    [
      "zremrangebyscore",
      4,
      "write",
      oneKey,
      (context, [, key = "", min = "", max = ""]) => remove(context, key, scoreRange(min, max)),
    ],
    [
      "zremrangebylex",
      4,
      "write",
      oneKey,
      (context, [, key = "", min = "", max = ""]) => remove(context, key, memberRange(min, max)),
    ],
  ],
);

function range(context: Context, words: Words, given: Form): Value {
  const options = readOptions(words, given);
  return flat(entriesOf(context, words, options), options.withScores);
}

function storeRange(context: Context, [name = "", to = "", ...source]: Words): Value {
  const options = readOptions([name, ...source], { ...FREE, repliesScores: false });
  const set = new SortedSet();
  for (const { member, score } of entriesOf(context, [name, ...source], options)) set.set(member, score);
  if (set.size === 0) context.store.delete(to);
  else context.store.set(to, set);
  return set.size;
}

function entriesOf({ store }: Context, words: Words, options: Form & Limits): Scored[] {
  const [, key = "", first = "", second = ""] = words;
  const { by, reverse, offset, limit } = options;
  const [low, high] = reverse && by !== "RANK" ? [second, first] : [first, second];
  let places: (set: SortedSet) => Places;
  if (by === "RANK") {
    const [from, to] = [readIndex(low), readIndex(high)];
    places = (set) => placesByRank(set, from, to, reverse);
  } else places = by === "SCORE" ? scoreRange(low, high) : memberRange(low, high);
  const set = store.sortedSet(key);
  if (!set) return [];
  return limited(set, places(set), { reverse, offset, limit });
}

interface Limits {
  readonly reverse: boolean;
  /** How many entries to leave out first; negative for no reply at all. */
  readonly offset: number;
  /** Most entries; negative for all. */
  readonly limit: number;
}

function limited(set: SortedSet, [begin, end]: Places, { reverse, offset, limit }: Limits): Scored[] {
  if (offset < 0) return [];
  const size = limit < 0 ? end - begin : Math.min(limit, end - begin);
  if (reverse) return set.slice(Math.max(begin, end - offset - size), end - offset).toReversed();
  return set.slice(begin + offset, Math.min(end, begin + offset + size));
}

function readOptions(words: Words, given: Form): Form & Limits & { withScores: boolean } {
  let { by, reverse } = given;
  let [withScores, offset, limit] = [false, 0, -1];
  let isLimited = false;
  const options = new Arguments(words, 4);
  while (options.left > 0) {
    const option = options.option();
    if (option === "WITHSCORES" && given.repliesScores !== false) withScores = true;
    else if (option === "LIMIT" && options.left >= 2) {
      offset = readIndex(options.next());
      limit = readIndex(options.next());
      isLimited = true;
    } else if (given.isFree && option === "REV" && !reverse) reverse = true;
    else if (given.isFree && by === "RANK" && option === "BYSCORE") by = "SCORE";
    else if (given.isFree && by === "RANK" && option === "BYLEX") by = "LEX";
    else throw syntaxError();
  }
  if (isLimited && limit !== -1 && by === "RANK") {
    throw new ReplyError(
      "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX",
    );
  }
  if (withScores && by === "LEX") {
    throw new ReplyError("ERR syntax error, WITHSCORES not supported in combination with BYLEX");
  }
  return { by, reverse, isFree: given.isFree, withScores, offset, limit };
}

/** Entries as a reply: members, or members and scores in turn. */
export const flat = (entries: readonly Scored[], withScores: boolean): Bytes[] =>
  withScores
    ? entries.flatMap(({ member, score }) => [member, formatDouble(score)])
    : entries.map(({ member }) => member);

function count({ store }: Context, key: Bytes, places: (set: SortedSet) => Places): Value {
  const set = store.sortedSet(key);
  if (!set) return 0;
  const [begin, end] = places(set);
  return end - begin;
}

function remove({ store }: Context, key: Bytes, places: (set: SortedSet) => Places): Value {
  const set = store.sortedSet(key);
  if (!set) return 0;
  const entries = set.slice(...places(set));
  for (const { member } of entries) set.delete(member);
  store.deleteIfEmpty(key, set);
  return entries.length;
}
