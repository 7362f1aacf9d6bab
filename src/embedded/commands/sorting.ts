import type { Bytes } from "../bytes.ts";
import { Arguments, commands, type Context, type KeyWords, type Words } from "../command.ts";
import { readDouble, readIndex } from "../numbers.ts";
import { ReplyError, syntaxError, wrongType, type Value } from "../reply.ts";
import type { Store } from "../store.ts";
import { Hash } from "../values/hash.ts";
import { List } from "../values/list.ts";
import { MemberSet } from "../values/member-set.ts";
import { SortedSet } from "../values/sorted-set.ts";

const FLAGS = "movablekeys @set @sortedset @list @dangerous";

/** The sorted key, and where SORT stores: the last STORE counts. */
const sortKeys: KeyWords = {
  first: 1,
  find: (words) => {
    const { store } = readOptions(words, true);
    return [words[1] as Bytes, ...(store === undefined ? [] : [store])];
  },
};

export const sortingCommands = commands(
  [],
  [
    ["sort", -2, `write denyoom ${FLAGS}`, sortKeys, (context, words) => sort(context, words, true)],
    ["sort_ro", -2, `readonly ${FLAGS}`, sortKeys, (context, words) => sort(context, words, false)],
  ],
);

interface Options {
  readonly isDescending: boolean;
  readonly byBytes: boolean;
  readonly offset: number;
  /** Negative for all. */
  readonly limit: number;
  readonly by: Bytes | undefined;
  readonly gets: readonly Bytes[];
  readonly store: Bytes | undefined;
}

function readOptions(words: Words, mayStore: boolean): Options {
  let [isDescending, byBytes, offset, limit] = [false, false, 0, -1];
  let by: Bytes | undefined;
  let store: Bytes | undefined;
  const gets: Bytes[] = [];
  const options = new Arguments(words, 2);
  while (options.left > 0) {
    const option = options.option();
    if (option === "ASC" || option === "DESC") isDescending = option === "DESC";
    else if (option === "ALPHA") byBytes = true;
    else if (option === "LIMIT" && options.left >= 2) {
      offset = readIndex(options.next());
      limit = readIndex(options.next());
    } else if (option === "BY" && options.left > 0) by = options.next();
    else if (option === "GET" && options.left > 0) gets.push(options.next());
    else if (option === "STORE" && mayStore && options.left > 0) store = options.next();
    else throw syntaxError();
  }
  return { isDescending, byBytes, offset, limit, by, gets, store };
}

function sort({ store }: Context, words: Words, mayStore: boolean): Value {
  const options = readOptions(words, mayStore);
  const content = store.get(words[1] as Bytes);
  const sorted = limited(
    sortedItems(store, content === undefined ? [] : itemsOf(content), options, content),
    options,
  );
  const reply = sorted.flatMap((item) =>
    options.gets.length === 0 ? [item] : options.gets.map((get) => lookUp(store, get, item)),
  );
  if (options.store === undefined) return reply;
  if (reply.length === 0) store.delete(options.store);
  else store.set(options.store, List.of(reply.map((value) => value ?? "")));
  return reply.length;
}

function itemsOf(content: NonNullable<ReturnType<Store["get"]>>): Bytes[] {
  if (content instanceof List) return content.slice(0, content.size);
  if (content instanceof MemberSet) return [...content.members()];
  if (content instanceof SortedSet) return content.slice(0, content.size).map(({ member }) => member);
  throw wrongType();
}

function sortedItems(
  store: Store,
  items: Bytes[],
  { by, byBytes, isDescending, store: target }: Options,
  content: ReturnType<Store["get"]>,
): Bytes[] {
  const keepsOrder = by !== undefined && !by.includes("*");
  // A set has no order that could be kept: what is stored must be the same each time.
  const sortsAnyway = keepsOrder && content instanceof MemberSet && target !== undefined;
  if (keepsOrder && !sortsAnyway) {
    return content instanceof SortedSet && isDescending ? items.toReversed() : items;
  }
  const weightOf = (item: Bytes) => (by === undefined || sortsAnyway ? item : lookUp(store, by, item));
  const compare =
    byBytes || sortsAnyway
      ? compareBy(
          weightOf,
          (a, b) => compareBytes(a ?? "", b ?? "") || Number(a !== null) - Number(b !== null),
        )
      : compareNumbers(items, weightOf);
  return items.toSorted(isDescending ? (a, b) => -compare(a, b) : compare);
}

type Compare<Item> = (a: Item, b: Item) => number;

function compareBy<Weight>(weightOf: (item: Bytes) => Weight, compare: Compare<Weight>): Compare<Bytes> {
  return (a, b) => compare(weightOf(a), weightOf(b));
}

const compareBytes = (a: Bytes, b: Bytes): number => (a < b ? -1 : a > b ? 1 : 0);

/** By number, and by bytes for the same number. */
function compareNumbers(items: readonly Bytes[], weightOf: (item: Bytes) => Bytes | null): Compare<Bytes> {
  const numbers = new Map(items.map((item) => [item, numberOf(weightOf(item) ?? "0")]));
  return (a, b) => {
    const [first, second] = [numbers.get(a) as number, numbers.get(b) as number];
    return first < second ? -1 : first > second ? 1 : compareBytes(a, b);
  };
}

/** As C reads it: up to a NUL, with space in front, and no text is 0. */
function numberOf(text: Bytes): number {
  const number = text.replace(/\0[^]*/, "").replace(/^[ \t\n\v\f\r]+/, "");
  if (number === "") return 0;
  try {
    return readDouble(number);
  } catch {
    throw new ReplyError("ERR One or more scores can't be converted into double");
  }
}

function limited(items: Bytes[], { offset, limit }: Options): Bytes[] {
  const begin = Math.max(offset, 0);
  return limit < 0 ? items.slice(begin) : items.slice(begin, begin + limit);
}

/** What a pattern names for an item: itself for `#`, the string of a key, or with `->` a field of a hash. */
function lookUp(store: Store, pattern: Bytes, item: Bytes): Bytes | null {
  if (pattern === "#") return item;
  const star = pattern.indexOf("*");
  if (star < 0) return null;
  const arrow = pattern.indexOf("->", star + 1);
  const isField = arrow >= 0 && arrow + 2 < pattern.length;
  const key = pattern.slice(0, star) + item + pattern.slice(star + 1, isField ? arrow : undefined);
  const content = store.get(key);
  if (isField) return content instanceof Hash ? (content.get(pattern.slice(arrow + 2)) ?? null) : null;
  return typeof content === "string" ? content : null;
}
