import { Arguments, commands, oneKey, type Context, type Words } from "../command.ts";
import { readIndex } from "../numbers.ts";
import { OK, ReplyError, syntaxError, type Value } from "../reply.ts";
import { decodeContent, encodeContent, InvalidSnapshot } from "../snapshot.ts";
import type { Content } from "../store.ts";

/** DUMP and RESTORE. Their format is that of snapshots, not that of Redis. */
export const copyingCommands = commands(
  ["@keyspace"],
  [
    [
      "dump",
      2,
      "readonly",
      oneKey,
      ({ store }, [, key = ""]) => {
        const content = store.get(key);
        return content === undefined ? null : encodeContent(content);
      },
    ],
    ["restore", -4, "write denyoom @dangerous", oneKey, restore],
  ],
);

function restore({ store }: Context, words: Words): Value {
  const [, key = "", text = "", dumped = ""] = words;
  const options = new Arguments(words, 4);
  let [replaces, isAbsolute] = [false, false];
  while (options.left > 0) {
    const option = options.option();
    if (option === "REPLACE") replaces = true;
    else if (option === "ABSTTL") isAbsolute = true;
    else throw syntaxError();
  }
  if (!replaces && store.has(key)) throw new ReplyError("BUSYKEY Target key name already exists.");
  const time = readIndex(text);
  if (time < 0) throw new ReplyError("ERR Invalid TTL value, must be >= 0");
  let content: Content;
  try {
    content = decodeContent(dumped);
  } catch (error) {
    if (error instanceof InvalidSnapshot) throw new ReplyError("ERR Bad data format");
    throw error;
  }
  store.set(key, content);
  if (time > 0) store.expire(key, isAbsolute ? time : store.now + time);
  return OK;
}
