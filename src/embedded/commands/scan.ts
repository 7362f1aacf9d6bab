import type { Bytes } from "../bytes.ts";
import { Arguments, type Words } from "../command.ts";
import { readIndex } from "../numbers.ts";
import { ReplyError, syntaxError, type Value } from "../reply.ts";
import { matches } from "./pattern.ts";

/** What can be scanned in steps; see `ScanIndex`. */
export interface Scannable {
  scan(cursor: number, count: number): { cursor: number; found: readonly Bytes[] };
}

/**
 * The reply of SCAN, HSCAN or ZSCAN.
 * @param at the word with the cursor
 * @param find the collection; undefined if the key is missing
 * @param itemsOf what the reply has for a name
 * @param options called for an option that is not MATCH or COUNT; returns a test of names if it knows it
 */
export function scanned<Collection extends Scannable>(
  words: Words,
  at: number,
  find: () => Collection | undefined,
  itemsOf: (name: Bytes, collection: Collection) => readonly Bytes[],
  options: (option: string, rest: Arguments) => ((name: Bytes) => boolean) | undefined = () => undefined,
): Value {
  const text = words[at] as Bytes;
  if (!/^[+-]?\d{1,20}$/.test(text)) throw new ReplyError("ERR invalid cursor");
  // The key comes before the options: they are not even read if it is missing.
  const collection = find();
  if (!collection) return ["0", []];
  let count = 10;
  const tests: ((name: Bytes) => boolean)[] = [];
  const rest = new Arguments(words, at + 1);
  while (rest.left > 0) {
    const option = rest.option();
    if (rest.left === 0) throw syntaxError();
    const known = option === "MATCH" || option === "COUNT" ? undefined : options(option, rest);
    if (option === "COUNT") count = readIndex(rest.next());
    else if (option === "MATCH") tests.push(matches(rest.next()));
    else if (known) tests.push(known);
    else throw syntaxError();
    if (count < 1) throw syntaxError();
  }
  const { cursor, found } = collection.scan(
    text.startsWith("-") ? Number.MAX_SAFE_INTEGER : Number(text),
    count,
  );
  const kept = found.filter((name) => tests.every((test) => test(name)));
  return [String(cursor), kept.flatMap((name) => itemsOf(name, collection))];
}
