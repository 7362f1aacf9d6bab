import type { Bytes } from "../bytes.ts";
import { Arguments, commands, oneKey, type Context, type Words } from "../command.ts";
import { formatDouble, readDouble, readIndex } from "../numbers.ts";
import { ReplyError, syntaxError, type Value } from "../reply.ts";
import { SortedSet, type Scored } from "../values/sorted-set.ts";
import type { Store } from "../store.ts";
import { randomItems, readRandomCount } from "./random.ts";
import { scanned } from "./scan.ts";
import { flat } from "./sorted-set-ranges.ts";

export const sortedSetCommands = commands(
  ["@sortedset"],
  [
    ["zadd", -4, "write denyoom fast", oneKey, addMembers],
    [
      "zincrby",
      4,
      "write denyoom fast",
      oneKey,
      (context, [name = "", key = "", by = "", member = ""]) =>
        addMembers(context, [name, key, "INCR", by, member]),
    ],
    ["zrem", -3, "write fast", oneKey, removeMembers],
    ["zcard", 2, "readonly fast", oneKey, ({ store }, [, key = ""]) => store.sortedSet(key)?.size ?? 0],
    [
      "zscore",
      3,
      "readonly fast",
      oneKey,
      ({ store }, [, key = "", member = ""]) => scoreReply(store.sortedSet(key), member),
    ],
    [
      "zmscore",
      -3,
      "readonly fast",
      oneKey,
      ({ store }, words) => {
        const set = store.sortedSet(words[1] as Bytes);
        return words.slice(2).map((member) => scoreReply(set, member));
      },
    ],
    [
      "zrank",
      3,
      "readonly fast",
      oneKey,
      ({ store }, [, key = "", member = ""]) => store.sortedSet(key)?.rankOf(member) ?? null,
    ],
    [
      "zrevrank",
      3,
      "readonly fast",
      oneKey,
      ({ store }, [, key = "", member = ""]) => {
        const set = store.sortedSet(key);
        const rank = set?.rankOf(member);
        return set && rank !== undefined ? set.size - 1 - rank : null;
      },
    ],
    ["zpopmin", -2, "write fast", oneKey, (context, words) => pop(context, words, false)],
    ["zpopmax", -2, "write fast", oneKey, (context, words) => pop(context, words, true)],
    [
      "zscan",
      -3,
      "readonly",
      oneKey,
      ({ store }, words) =>
        scanned(
          words,
          2,
          () => store.sortedSet(words[1] as Bytes),
          (member, set) => [member, formatDouble(set.scoreOf(member) as number)],
        ),
    ],
    ["zrandmember", -2, "readonly", oneKey, randomMembers],
  ],
);

const scoreReply = (set: SortedSet | undefined, member: Bytes): Bytes | null => {
  const score = set?.scoreOf(member);
  return score === undefined ? null : formatDouble(score);
};

const flagNames = ["NX", "XX", "GT", "LT", "CH", "INCR"];

function addMembers({ store }: Context, words: Words): Value {
  const options = new Arguments(words, 2);
  const flags = new Set<string>();
  let at = 2;
  for (; at < words.length && flagNames.includes((words[at] as string).toUpperCase()); at++) {
    flags.add(options.option());
  }
  const pairs = words.length - at;
  if (pairs === 0 || pairs % 2 !== 0) throw syntaxError();
  const [nx, xx, gt, lt] = [flags.has("NX"), flags.has("XX"), flags.has("GT"), flags.has("LT")];
  if (nx && xx) throw new ReplyError("ERR XX and NX options at the same time are not compatible");
  if ((gt && nx) || (lt && nx) || (gt && lt)) {
    throw new ReplyError("ERR GT, LT, and/or NX options at the same time are not compatible");
  }
  const isIncrement = flags.has("INCR");
  if (isIncrement && pairs > 2)
    throw new ReplyError("ERR INCR option supports a single increment-element pair");
  const scores: number[] = [];
  for (let place = at; place < words.length; place += 2) scores.push(readDouble(words[place] as Bytes));

  const key = words[1] as Bytes;
  const found = store.sortedSet(key);
  const set = found ?? new SortedSet();
  let [added, updated] = [0, 0];
  let last: number | null = null;
  for (const [index, given] of scores.entries()) {
    const member = words[at + 2 * index + 1] as Bytes;
    const old = set.scoreOf(member);
    const score = isIncrement && old !== undefined ? old + given : given;
    if (Number.isNaN(score)) throw new ReplyError("ERR resulting score is not a number (NaN)");
    last = score;
    if (old === undefined ? xx : nx || (lt && score >= old) || (gt && score <= old)) {
      last = null;
      continue;
    }
    if (old === undefined) added += 1;
    else if (old !== score) updated += 1;
    else continue;
    set.set(member, score);
  }
  if (!found && set.size > 0) store.set(key, set);
  if (isIncrement) return last === null ? null : formatDouble(last);
  return flags.has("CH") ? added + updated : added;
}

function removeMembers({ store }: Context, words: Words): Value {
  const key = words[1] as Bytes;
  const set = store.sortedSet(key);
  if (!set) return 0;
  let removed = 0;
  for (let at = 2; at < words.length; at++) if (set.delete(words[at] as Bytes)) removed += 1;
  store.deleteIfEmpty(key, set);
  return removed;
}

function pop({ store }: Context, words: Words, fromEnd: boolean): Value {
  const [, key = "", text = "1"] = words;
  if (words.length > 3) throw syntaxError();
  const refused = () => new ReplyError("ERR value is out of range, must be positive");
  const count = readIndex(text, refused);
  if (count < 0) throw refused();
  const set = store.sortedSet(key);
  if (!set) return [];
  return flat(popEntries(store, key, set, fromEnd, count), true);
}

/** Takes the first entries off the sorted set of a key, or the last ones. */
export function popEntries(
  store: Store,
  key: Bytes,
  set: SortedSet,
  fromEnd: boolean,
  count: number,
): Scored[] {
  const entries = fromEnd
    ? set.slice(Math.max(set.size - count, 0), set.size).toReversed()
    : set.slice(0, Math.min(count, set.size));
  for (const { member } of entries) set.delete(member);
  store.deleteIfEmpty(key, set);
  return entries;
}

/** ZRANDMEMBER: one member, or as many different ones as asked for; with a negative count any, also twice. */
function randomMembers({ store }: Context, words: Words): Value {
  const [, key = "", text, option] = words;
  if (words.length > 4 || (option !== undefined && option.toUpperCase() !== "WITHSCORES"))
    throw syntaxError();
  const count = text === undefined ? undefined : readRandomCount(text);
  const set = store.sortedSet(key);
  if (!set) return count === undefined ? null : [];
  const chosen = randomItems(set.slice(0, set.size), count ?? 1);
  return count === undefined ? (chosen[0]?.member ?? null) : flat(chosen, option !== undefined);
}
