import type { Bytes } from "../bytes.ts";
import { commands, oneKey, type Context, type Words } from "../command.ts";
import { add, readInteger } from "../numbers.ts";
import { OK, ReplyError, syntaxError, wrongArity, type Value } from "../reply.ts";
import type { Store } from "../store.ts";
import { Hash } from "../values/hash.ts";
import { formatLongDouble, readLongDouble, sumOf } from "../long-double.ts";
import { randomItems, readRandomCount } from "./random.ts";
import { scanned } from "./scan.ts";

export const hashCommands = commands(
  ["@hash"],
  [
    ["hset", -4, "write denyoom fast", oneKey, setFields],
    ["hmset", -4, "write denyoom fast", oneKey, (context, words) => (setFields(context, words), OK)],
    [
      "hsetnx",
      4,
      "write denyoom fast",
      oneKey,
      ({ store }, [, key = "", field = "", value = ""]) => {
        const hash = madeHash(store, key);
        if (hash.get(field) !== undefined) return 0;
        hash.set(field, value);
        return 1;
      },
    ],
    [
      "hget",
      3,
      "readonly fast",
      oneKey,
      ({ store }, [, key = "", field = ""]) => store.hash(key)?.get(field) ?? null,
    ],
    [
      "hmget",
      -3,
      "readonly fast",
      oneKey,
      ({ store }, words) => {
        const hash = store.hash(words[1] as Bytes);
        return words.slice(2).map((field) => hash?.get(field) ?? null);
      },
    ],
    [
      "hgetall",
      2,
      "readonly",
      oneKey,
      ({ store }, [, key = ""]) => [...(store.hash(key)?.entries() ?? [])].flat(),
    ],
    ["hdel", -3, "write fast", oneKey, deleteFields],
    [
      "hexists",
      3,
      "readonly fast",
      oneKey,
      ({ store }, [, key = "", field = ""]) => (store.hash(key)?.get(field) === undefined ? 0 : 1),
    ],
    ["hlen", 2, "readonly fast", oneKey, ({ store }, [, key = ""]) => store.hash(key)?.size ?? 0],
    [
      "hstrlen",
      3,
      "readonly fast",
      oneKey,
      ({ store }, [, key = "", field = ""]) => store.hash(key)?.get(field)?.length ?? 0,
    ],
    [
      "hkeys",
      2,
      "readonly",
      oneKey,
      ({ store }, [, key = ""]) => Array.from(store.hash(key)?.entries() ?? [], ([field]) => field),
    ],
    [
      "hvals",
      2,
      "readonly",
      oneKey,
      ({ store }, [, key = ""]) => Array.from(store.hash(key)?.entries() ?? [], ([, value]) => value),
    ],
    ["hincrby", 4, "write denyoom fast", oneKey, increment],
    ["hincrbyfloat", 4, "write denyoom fast", oneKey, incrementFloat],
    ["hrandfield", -2, "readonly", oneKey, randomFields],
    [
      "hscan",
      -3,
      "readonly",
      oneKey,
      ({ store }, words) => {
        const find = () => store.hash(words[1] as Bytes);
        return scanned(words, 2, find, (field, hash) => [field, hash.get(field) as Bytes]);
      },
    ],
  ],
);

/** The hash of a key, which is made if it is missing. Something must be added to it. */
function madeHash(store: Store, key: Bytes): Hash {
  const found = store.hash(key);
  if (found) return found;
  const hash = new Hash();
  store.set(key, hash);
  return hash;
}

function setFields({ store }: Context, words: Words): Value {
  if (words.length % 2 !== 0) throw wrongArity((words[0] as string).toLowerCase());
  const hash = madeHash(store, words[1] as Bytes);
  let created = 0;
  for (let at = 2; at < words.length; at += 2) {
    if (hash.set(words[at] as Bytes, words[at + 1] as Bytes)) created += 1;
  }
  return created;
}

function deleteFields({ store }: Context, words: Words): Value {
  const key = words[1] as Bytes;
  const hash = store.hash(key);
  if (!hash) return 0;
  let deleted = 0;
  for (let at = 2; at < words.length; at++) if (hash.delete(words[at] as Bytes)) deleted += 1;
  store.deleteIfEmpty(key, hash);
  return deleted;
}

function incrementFloat({ store }: Context, [, key = "", field = "", by = ""]: Words): Value {
  const amount = readLongDouble(by);
  if (amount === "infinite") throw new ReplyError("ERR value is NaN or Infinity");
  const old = store.hash(key)?.get(field) ?? "0";
  const sum = formatLongDouble(
    sumOf(
      readLongDouble(old, () => new ReplyError("ERR hash value is not a float")),
      amount,
    ),
  );
  madeHash(store, key).set(field, sum);
  return sum;
}

/** HRANDFIELD: one field, or as many different ones as asked for; with a negative count any, also twice. */
function randomFields({ store }: Context, [, key = "", text, option, ...more]: Words): Value {
  if (more.length > 0 || (option !== undefined && option.toUpperCase() !== "WITHVALUES")) throw syntaxError();
  const count = text === undefined ? undefined : readRandomCount(text);
  const hash = store.hash(key);
  if (!hash) return count === undefined ? null : [];
  const chosen = randomItems([...hash.entries()], count ?? 1);
  if (count === undefined) return chosen[0]?.[0] ?? null;
  return option === undefined ? chosen.map(([field]) => field) : chosen.flat();
}

function increment({ store }: Context, [, key = "", field = "", by = ""]: Words): Value {
  const amount = readInteger(by);
  const old = readInteger(
    store.hash(key)?.get(field) ?? "0",
    () => new ReplyError("ERR hash value is not an integer"),
  );
  const sum = add(old, amount);
  if (sum === undefined) throw new ReplyError("ERR increment or decrement would overflow");
  madeHash(store, key).set(field, String(sum));
  return sum;
}
