import type { Bytes } from "../bytes.ts";
import { Arguments, commands, counted, type Context, type Words } from "../command.ts";
import { formatDouble, readIndex } from "../numbers.ts";
import { missingArray, ReplyError, syntaxError, type Value } from "../reply.ts";
import { popValues } from "./lists.ts";
import { popEntries } from "./sorted-sets.ts";

/** LMPOP and ZMPOP: from the first of several keys that is there. */
export const poppingCommands = [
  ...commands(
    ["@list"],
    [
      [
        "lmpop",
        -4,
        "write movablekeys",
        counted(1),
        (context, words) =>
          popFirst(words, ["LEFT", "RIGHT"], (key, end, count) => {
            const list = context.store.list(key);
            return list && popValues(context.store, key, list, end === "LEFT" ? "LEFT" : "RIGHT", count);
          }),
      ],
    ],
  ),
  ...commands(["@sortedset"], [["zmpop", -4, "write movablekeys", counted(1), popMembers]]),
];

function popMembers({ store }: Context, words: Words): Value {
  return popFirst(words, ["MIN", "MAX"], (key, end, count) => {
    const set = store.sortedSet(key);
    if (!set) return undefined;
    const entries = popEntries(store, key, set, end === "MAX", count);
    return entries.map(({ member, score }) => [member, formatDouble(score)]);
  });
}

function popFirst(
  words: Words,
  ends: readonly string[],
  pop: (key: Bytes, end: string, count: number) => Value | undefined,
): Value {
  const count = readPositive(words[1] as Bytes, "numkeys");
  const rest = new Arguments(words, 2 + count);
  if (rest.left < 1) throw syntaxError();
  const end = rest.option();
  if (!ends.includes(end)) throw syntaxError();
  let most: number | undefined;
  while (rest.left > 0) {
    if (most !== undefined || rest.option() !== "COUNT" || rest.left === 0) throw syntaxError();
    most = readPositive(rest.next(), "count");
  }
  for (const key of words.slice(2, 2 + count)) {
    const popped = pop(key, end, most ?? 1);
    if (popped !== undefined) return [key, popped];
  }
  return missingArray;
}

function readPositive(text: Bytes, name: string): number {
  const refused = () => new ReplyError(`ERR ${name} should be greater than 0`);
  const count = readIndex(text, refused);
  if (count < 1) throw refused();
  return count;
}
