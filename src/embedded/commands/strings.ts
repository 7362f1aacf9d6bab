import type { Bytes } from "../bytes.ts";
import { allKeys, Arguments, commands, oneKey, type Context, type Words } from "../command.ts";
import { add, readIndex, readInteger, type Integer } from "../numbers.ts";
import { OK, ReplyError, syntaxError, wrongArity, type Value } from "../reply.ts";
import type { Store } from "../store.ts";
import { formatLongDouble, readLongDouble, sumOf } from "../long-double.ts";
import { expiryFrom, invalidExpiry } from "./expiry.ts";

/** Longest string, in bytes, as in Redis by default. */
const LONGEST = 512 * 1024 * 1024;

export const stringCommands = commands(
  ["@string"],
  [
    ["get", 2, "readonly fast", oneKey, ({ store }, [, key = ""]) => store.string(key) ?? null],
    ["set", -3, "write denyoom", oneKey, set],
    [
      "setnx",
      3,
      "write denyoom fast",
      oneKey,
      ({ store }, [, key = "", value = ""]) => {
        if (store.has(key)) return 0;
        store.set(key, value);
        return 1;
      },
    ],
    ["setex", 4, "write denyoom", oneKey, (context, words) => setExpiring(context, words, "EX")],
    ["psetex", 4, "write denyoom", oneKey, (context, words) => setExpiring(context, words, "PX")],
    [
      "getset",
      3,
      "write denyoom fast",
      oneKey,
      ({ store }, [, key = "", value = ""]) => {
        const old = store.string(key) ?? null;
        store.set(key, value);
        return old;
      },
    ],
    [
      "getdel",
      2,
      "write fast",
      oneKey,
      ({ store }, [, key = ""]) => {
        const value = store.string(key) ?? null;
        store.delete(key);
        return value;
      },
    ],
    ["append", 3, "write denyoom fast", oneKey, append],
    ["strlen", 2, "readonly fast", oneKey, ({ store }, [, key = ""]) => (store.string(key) ?? "").length],
    ["incr", 2, "write denyoom fast", oneKey, ({ store }, [, key = ""]) => increment(store, key, 1)],
    ["decr", 2, "write denyoom fast", oneKey, ({ store }, [, key = ""]) => increment(store, key, -1)],
    [
      "incrby",
      3,
      "write denyoom fast",
      oneKey,
      ({ store }, [, key = "", by = ""]) => increment(store, key, readInteger(by)),
    ],
    [
      "decrby",
      3,
      "write denyoom fast",
      oneKey,
      ({ store }, [, key = "", by = ""]) => {
        const amount = readInteger(by);
        if (amount === -(2n ** 63n)) throw new ReplyError("ERR decrement would overflow");
        return increment(store, key, -amount);
      },
    ],
    [
      "mget",
      -2,
      "readonly fast",
      allKeys,
      ({ store }, [, ...keys]) => keys.map((key) => stringOrNull(store, key)),
    ],
    ["mset", -3, "write denyoom", { first: 1, last: -1, step: 2 }, setMany],
    [
      "msetnx",
      -3,
      "write denyoom",
      { first: 1, last: -1, step: 2 },
      (context, words) => {
        checkPairs(words);
        if (words.some((key, at) => at % 2 === 1 && context.store.has(key))) return 0;
        setMany(context, words);
        return 1;
      },
    ],
    ["getrange", 4, "readonly", oneKey, getRange],
    ["substr", 4, "readonly", oneKey, getRange],
    ["setrange", 4, "write denyoom", oneKey, setRange],
    ["getex", -2, "write fast", oneKey, getAndExpire],
    ["incrbyfloat", 3, "write denyoom fast", oneKey, incrementFloat],
  ],
);

function set({ store }: Context, [, key = "", value = "", ...words]: Words): Value {
  const options = new Arguments(words, 0);
  let condition: "NX" | "XX" | undefined;
  let returnsOld = false;
  let keep = false;
  let expiry: { unit: string; text: Bytes } | undefined;
  while (options.left > 0) {
    const option = options.option();
    if ((option === "NX" || option === "XX") && (condition ?? option) === option) condition = option;
    else if (option === "GET") returnsOld = true;
    else if (option === "KEEPTTL" && expiry === undefined) keep = true;
    else if (isExpiryUnit(option) && !keep && !expiry && options.left > 0) {
      expiry = { unit: option, text: options.next() };
    } else throw syntaxError();
  }
  const expiresAt = expiry && expiryFrom(expiry.unit, expiry.text, store.now, "set");
  if (expiry && (expiresAt as number) <= 0) throw invalidExpiry("set");
  const old = returnsOld ? (store.string(key) ?? null) : null;
  const exists = store.has(key);
  if ((condition === "NX" && exists) || (condition === "XX" && !exists)) return old;
  store.set(key, value, keep);
  if (expiresAt !== undefined) store.expire(key, expiresAt);
  return returnsOld ? old : OK;
}

function setExpiring(
  { store }: Context,
  [name = "", key = "", time = "", value = ""]: Words,
  unit: string,
): Value {
  const expiresAt = expiryFrom(unit, time, store.now, name.toLowerCase());
  store.set(key, value);
  store.expire(key, expiresAt);
  return OK;
}

function append({ store }: Context, [, key = "", tail = ""]: Words): Value {
  const value = (store.string(key) ?? "") + tail;
  checkLength(value.length);
  store.set(key, value, true);
  return value.length;
}

function increment(store: Store, key: Bytes, by: Integer): Value {
  const sum = add(readInteger(store.string(key) ?? "0"), by);
  if (sum === undefined) throw new ReplyError("ERR increment or decrement would overflow");
  store.set(key, String(sum), true);
  return sum;
}

function incrementFloat({ store }: Context, [, key = "", by = ""]: Words): Value {
  const old = readLongDouble(store.string(key) ?? "0");
  const sum = formatLongDouble(sumOf(old, readLongDouble(by)));
  store.set(key, sum, true);
  return sum;
}

function getAndExpire({ store }: Context, words: Words): Value {
  const key = words[1] as Bytes;
  const options = new Arguments(words, 2);
  const unit = options.left > 0 ? options.option() : undefined;
  const persists = unit === "PERSIST";
  const time = unit === undefined || persists ? undefined : options.next();
  if (options.left > 0 || (time !== undefined && !isExpiryUnit(unit as string))) throw syntaxError();
  const value = store.string(key);
  if (value === undefined) return null;
  if (time !== undefined) store.expire(key, expiryFrom(unit as string, time, store.now, "getex"));
  else if (persists) store.expire(key, undefined);
  return value;
}

/** Whether it is an option that says when a key expires. */
const isExpiryUnit = (option: string): boolean => ["EX", "PX", "EXAT", "PXAT"].includes(option);

function setMany({ store }: Context, words: Words): Value {
  checkPairs(words);
  for (let at = 1; at < words.length; at += 2) store.set(words[at] as Bytes, words[at + 1] as Bytes);
  return OK;
}

function checkPairs(words: Words): void {
  if (words.length % 2 === 0) throw wrongArity((words[0] as string).toLowerCase());
}

function getRange({ store }: Context, [, key = "", first = "", last = ""]: Words): Value {
  const [from, to] = [readIndex(first), readIndex(last)];
  const value = store.string(key) ?? "";
  // Not as for lists: an end in front of the string is its first byte.
  if (from < 0 && to < 0 && from > to) return "";
  const begin = Math.max(from < 0 ? value.length + from : from, 0);
  return value.slice(begin, Math.max(to < 0 ? value.length + to : to, 0) + 1);
}

function setRange({ store }: Context, [, key = "", first = "", part = ""]: Words): Value {
  const offset = readIndex(first);
  if (offset < 0) throw new ReplyError("ERR offset is out of range");
  const value = store.string(key) ?? "";
  if (part === "") return value.length;
  checkLength(offset + part.length);
  const changed = value.slice(0, offset).padEnd(offset, "\0") + part + value.slice(offset + part.length);
  store.set(key, changed, true);
  return changed.length;
}

function checkLength(length: number): void {
  if (length > LONGEST) throw new ReplyError("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
}

function stringOrNull(store: Store, key: Bytes): Bytes | null {
  const content = store.get(key);
  return typeof content === "string" ? content : null;
}
