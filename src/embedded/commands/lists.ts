import type { Bytes } from "../bytes.ts";
import { Arguments, commands, oneKey, type Context, type Words } from "../command.ts";
import { readIndex, readInteger } from "../numbers.ts";
import {
  missingArray,
  noSuchKey,
  OK,
  outOfRange,
  ReplyError,
  syntaxError,
  wrongArity,
  type Value,
} from "../reply.ts";
import type { Store } from "../store.ts";
import { List } from "../values/list.ts";
import { span } from "./span.ts";

type End = "LEFT" | "RIGHT";

const twoKeys = { first: 1, last: 2, step: 1 };

export const listCommands = commands(
  ["@list"],
  [
    ["lpush", -3, "write denyoom fast", oneKey, (context, words) => push(context, words, "LEFT", true)],
    ["rpush", -3, "write denyoom fast", oneKey, (context, words) => push(context, words, "RIGHT", true)],
    ["lpushx", -3, "write denyoom fast", oneKey, (context, words) => push(context, words, "LEFT", false)],
    ["rpushx", -3, "write denyoom fast", oneKey, (context, words) => push(context, words, "RIGHT", false)],
    ["lpop", -2, "write fast", oneKey, (context, words) => pop(context, words, "LEFT")],
    ["rpop", -2, "write fast", oneKey, (context, words) => pop(context, words, "RIGHT")],
    ["llen", 2, "readonly fast", oneKey, ({ store }, [, key = ""]) => store.list(key)?.size ?? 0],
    [
      "lrange",
      4,
      "readonly",
      oneKey,
      ({ store }, [, key = "", first = "", last = ""]) => {
        const [from, to] = [readIndex(first), readIndex(last)];
        const list = store.list(key);
        return list ? list.slice(...span(from, to, list.size)) : [];
      },
    ],
    [
      "lindex",
      3,
      "readonly",
      oneKey,
      ({ store }, [, key = "", text = ""]) => {
        const list = store.list(key);
        if (!list) return null;
        const index = placeOf(list, readIndex(text));
        return index === undefined ? null : list.at(index);
      },
    ],
    [
      "lset",
      4,
      "write denyoom",
      oneKey,
      ({ store }, [, key = "", text = "", value = ""]) => {
        const list = store.list(key);
        if (!list) throw noSuchKey();
        const index = placeOf(list, readIndex(text));
        if (index === undefined) throw outOfRange();
        list.set(index, value);
        return OK;
      },
    ],
    ["lpos", -3, "readonly", oneKey, positions],
    ["lrem", 4, "write", oneKey, remove],
    [
      "ltrim",
      4,
      "write",
      oneKey,
      ({ store }, [, key = "", first = "", last = ""]) => {
        const [from, to] = [readIndex(first), readIndex(last)];
        const list = store.list(key);
        if (list) replace(store, key, list.slice(...span(from, to, list.size)));
        return OK;
      },
    ],
    ["linsert", 5, "write denyoom", oneKey, insert],
    ["lmove", 5, "write denyoom", twoKeys, move],
    [
      "rpoplpush",
      3,
      "write denyoom",
      twoKeys,
      (context, [name = "", from = "", to = ""]) => move(context, [name, from, to, "RIGHT", "LEFT"]),
    ],
  ],
);

function push({ store }: Context, words: Words, end: End, creates: boolean): Value {
  const key = words[1] as Bytes;
  let list = store.list(key);
  if (!list) {
    if (!creates) return 0;
    list = new List();
    store.set(key, list);
  }
  for (let at = 2; at < words.length; at++) {
    if (end === "LEFT") list.pushLeft(words[at] as Bytes);
    else list.pushRight(words[at] as Bytes);
  }
  return list.size;
}

function pop({ store }: Context, words: Words, end: End): Value {
  const [name = "", key = "", text] = words;
  if (words.length > 3) throw wrongArity(name.toLowerCase());
  const refused = () => new ReplyError("ERR value is out of range, must be positive");
  const count = text === undefined ? undefined : readIndex(text, refused);
  if (count !== undefined && count < 0) throw refused();
  const list = store.list(key);
  if (!list) return count === undefined ? null : missingArray;
  const popped = popValues(store, key, list, end, count ?? 1);
  return count === undefined ? (popped[0] ?? null) : popped;
}

/** Takes values off the list of a key. */
export function popValues(store: Store, key: Bytes, list: List, end: End, count: number): Bytes[] {
  const popped: Bytes[] = [];
  for (let left = Math.min(count, list.size); left > 0; left--) {
    popped.push((end === "LEFT" ? list.popLeft() : list.popRight()) as Bytes);
  }
  store.deleteIfEmpty(key, list);
  return popped;
}

/** LPOS: where a value is, from the left, or from the right with a negative rank. */
function positions({ store }: Context, words: Words): Value {
  const [, key = "", value = ""] = words;
  let [rank, most]: [number, number | undefined] = [1, undefined];
  let compared = 0;
  const options = new Arguments(words, 3);
  while (options.left > 0) {
    const option = options.option();
    if (!["RANK", "COUNT", "MAXLEN"].includes(option) || options.left === 0) throw syntaxError();
    if (option === "RANK") rank = readRank(options.next());
    else if (option === "COUNT") most = readNotNegative(options.next(), option);
    else compared = readNotNegative(options.next(), option);
  }
  const list = store.list(key);
  if (!list) return most === undefined ? null : [];
  const found: number[] = [];
  const steps = compared === 0 ? list.size : Math.min(compared, list.size);
  const wanted = most === undefined || most === 0 ? list.size : most;
  let toSkip = Math.abs(rank) - 1;
  for (let step = 0; step < steps && found.length < wanted; step++) {
    const index = rank > 0 ? step : list.size - 1 - step;
    if (list.at(index) !== value) continue;
    if (toSkip > 0) toSkip -= 1;
    else if (most === undefined) return index;
    else found.push(index);
  }
  return most === undefined ? null : found;
}

function readRank(text: Bytes): number {
  const rank = readInteger(text);
  if (rank === -(2n ** 63n)) {
    throw new ReplyError(
      "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807",
    );
  }
  if (rank === 0) {
    throw new ReplyError(
      "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... " +
        "or use negative to start from the end of the list",
    );
  }
  return Number(rank);
}

function readNotNegative(text: Bytes, name: string): number {
  const refused = () => new ReplyError(`ERR ${name} can't be negative`);
  const count = readIndex(text, refused);
  if (count < 0) throw refused();
  return count;
}

/** The index from the left; undefined if the list is shorter. */
function placeOf(list: List, index: number): number | undefined {
  const place = index < 0 ? list.size + index : index;
  return place >= 0 && place < list.size ? place : undefined;
}

function remove({ store }: Context, [, key = "", text = "", value = ""]: Words): Value {
  const count = readIndex(text);
  const list = store.list(key);
  if (!list) return 0;
  const most = count === 0 ? list.size : Math.abs(count);
  const values = list.slice(0, list.size);
  if (count < 0) values.reverse();
  let removed = 0;
  const kept = values.filter((one) => {
    const isRemoved = one === value && removed < most;
    if (isRemoved) removed += 1;
    return !isRemoved;
  });
  if (count < 0) kept.reverse();
  if (removed > 0) replace(store, key, kept);
  return removed;
}

function insert({ store }: Context, [, key = "", where = "", pivot = "", value = ""]: Words): Value {
  const side = where.toUpperCase();
  if (side !== "BEFORE" && side !== "AFTER") throw syntaxError();
  const list = store.list(key);
  if (!list) return 0;
  const values = list.slice(0, list.size);
  const found = values.indexOf(pivot);
  if (found < 0) return -1;
  values.splice(side === "BEFORE" ? found : found + 1, 0, value);
  replace(store, key, values);
  return values.length;
}

function move({ store }: Context, [, from = "", to = "", take = "", put = ""]: Words): Value {
  const [taken, given] = [endOf(take), endOf(put)];
  const source = store.list(from);
  if (!source) return null;
  const target = store.list(to) ?? new List();
  const value = (taken === "LEFT" ? source.popLeft() : source.popRight()) as Bytes;
  if (target.size === 0 && target !== source) store.set(to, target);
  if (given === "LEFT") target.pushLeft(value);
  else target.pushRight(value);
  store.deleteIfEmpty(from, source);
  return value;
}

function endOf(text: Bytes): End {
  const end = text.toUpperCase();
  if (end !== "LEFT" && end !== "RIGHT") throw syntaxError();
  return end;
}

/** Replaces the values of an existing list, whose expiry stays. */
function replace(store: Store, key: Bytes, values: readonly Bytes[]): void {
  if (values.length === 0) store.delete(key);
  else store.set(key, List.of(values), true);
}
