import type { Bytes } from "../bytes.ts";
import { allKeys, Arguments, commands, container, oneKey, type Context, type Words } from "../command.ts";
import { integerOf } from "../numbers.ts";
import { noSuchKey, OK, ReplyError, Status, syntaxError, type Value } from "../reply.ts";
import { copyOf, kindOf, type Content } from "../store.ts";
import { List } from "../values/list.ts";
import { MemberSet } from "../values/member-set.ts";
import { matches } from "./pattern.ts";
import { scanned } from "./scan.ts";

const twoKeys = { first: 1, last: 2, step: 1 };

export const keyCommands = [
  ...commands(
    ["@keyspace"],
    [
      ["del", -2, "write", allKeys, deleteKeys],
      ["unlink", -2, "write fast", allKeys, deleteKeys],
      [
        "exists",
        -2,
        "readonly fast",
        allKeys,
        ({ store }, [, ...keys]) => keys.filter((key) => store.has(key)).length,
      ],
      [
        "touch",
        -2,
        "readonly fast",
        allKeys,
        ({ store }, [, ...keys]) => keys.filter((key) => store.has(key)).length,
      ],
      [
        "type",
        2,
        "readonly fast",
        oneKey,
        ({ store }, [, key = ""]) => {
          const content = store.get(key);
          return new Status(content === undefined ? "none" : kindOf(content));
        },
      ],
      ["rename", 3, "write", twoKeys, (context, words) => (rename(context, words), OK)],
      [
        "renamenx",
        3,
        "write fast",
        twoKeys,
        (context, words) => {
          const [, from = "", to = ""] = words;
          if (!context.store.has(from)) throw noSuchKey();
          if (context.store.has(to)) return 0;
          rename(context, words);
          return 1;
        },
      ],
      ["copy", -3, "write denyoom", twoKeys, copy],
      [
        "keys",
        2,
        "readonly @dangerous",
        undefined,
        ({ store }, [, pattern = ""]) => store.keys().filter(matches(pattern)),
      ],
      [
        "scan",
        -2,
        "readonly",
        undefined,
        ({ store }, words) =>
          scanned(
            words,
            1,
            () => store,
            (key) => [key],
            (option, rest) => {
              if (option !== "TYPE") return undefined;
              const kind = rest.next().toLowerCase();
              return (key) => kindOf(store.get(key) as Content) === kind;
            },
          ),
      ],
      [
        "randomkey",
        1,
        "readonly",
        undefined,
        ({ store }) => {
          const keys = store.keys();
          return keys[Math.floor(Math.random() * keys.length)] ?? null;
        },
      ],
      ["dbsize", 1, "readonly fast", undefined, ({ store }) => store.size],
      ["flushall", -1, "write @dangerous", undefined, flush],
      ["flushdb", -1, "write @dangerous", undefined, flush],
    ],
  ),
  container(
    "object",
    commands(
      ["@keyspace"],
      [
        [
          "object|encoding",
          3,
          "readonly",
          { first: 2, last: 2, step: 1 },
          ({ store }, [, , key = ""]) => {
            const content = store.get(key);
            return content === undefined ? null : encodingOf(content);
          },
        ],
      ],
    ),
  ),
];

function deleteKeys({ store }: Context, [, ...keys]: Words): Value {
  return keys.filter((key) => store.delete(key)).length;
}

function rename({ store }: Context, [, from = "", to = ""]: Words): void {
  const content = store.get(from);
  if (content === undefined) throw noSuchKey();
  const expiresAt = store.expiryOf(from);
  if (from === to) return;
  store.delete(from);
  store.set(to, content);
  store.expire(to, expiresAt);
}

function copy({ store }: Context, words: Words): Value {
  const [, from = "", to = ""] = words;
  const options = new Arguments(words, 3);
  let replaces = false;
  while (options.left > 0) {
    if (options.option() !== "REPLACE") throw syntaxError();
    replaces = true;
  }
  if (from === to) throw new ReplyError("ERR source and destination objects are the same");
  const content = store.get(from);
  if (content === undefined || (!replaces && store.has(to))) return 0;
  store.set(to, copyOf(content));
  store.expire(to, store.expiryOf(from));
  return 1;
}

function flush({ store }: Context, words: Words): Value {
  if (words.length > 2 || (words[1] !== undefined && !/^A?SYNC$/i.test(words[1]))) throw syntaxError();
  store.clear();
  return OK;
}

/** How Redis would keep the content. */
function encodingOf(content: Content): Bytes {
  if (content instanceof List) return "quicklist";
  if (typeof content === "string") {
    return integerOf(content) === undefined ? (content.length <= 44 ? "embstr" : "raw") : "int";
  }
  if (content instanceof MemberSet) return content.isCompact ? "intset" : "hashtable";
  return content.isCompact ? "listpack" : kindOf(content) === "zset" ? "skiplist" : "hashtable";
}
