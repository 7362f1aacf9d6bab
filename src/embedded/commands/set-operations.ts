import type { Bytes } from "../bytes.ts";
import { allKeys, Arguments, commands, counted, type Context, type Words } from "../command.ts";
import { readIndex } from "../numbers.ts";
import { ReplyError, syntaxError, type Value } from "../reply.ts";
import { MemberSet } from "../values/member-set.ts";

/** The result for the sets of keys, of which a missing one is empty. */
type Operation = (sets: readonly MemberSet[]) => Bytes[];

const intersection: Operation = ([first, ...others]) =>
  [...(first?.members() ?? [])].filter((member) => others.every((set) => set.has(member)));
const union: Operation = (sets) => [...MemberSet.of(sets.flatMap((set) => [...set.members()])).members()];
const difference: Operation = ([first, ...others]) =>
  [...(first?.members() ?? [])].filter((member) => !others.some((set) => set.has(member)));

export const setOperationCommands = commands(
  ["@set"],
  [
    ["sinter", -2, "readonly", allKeys, replied(intersection)],
    ["sunion", -2, "readonly", allKeys, replied(union)],
    ["sdiff", -2, "readonly", allKeys, replied(difference)],
    ["sinterstore", -3, "write denyoom", allKeys, stored(intersection)],
    ["sunionstore", -3, "write denyoom", allKeys, stored(union)],
    ["sdiffstore", -3, "write denyoom", allKeys, stored(difference)],
    ["sintercard", -3, "readonly movablekeys", counted(1), countCommon],
  ],
);

const setsOf = ({ store }: Context, keys: Words): MemberSet[] =>
  keys.map((key) => store.memberSet(key) ?? new MemberSet());

function replied(operation: Operation) {
  return (context: Context, [, ...keys]: Words): Value => operation(setsOf(context, keys));
}

function stored(operation: Operation) {
  return (context: Context, [, to = "", ...keys]: Words): Value => {
    const members = operation(setsOf(context, keys));
    if (members.length === 0) context.store.delete(to);
    else context.store.set(to, MemberSet.of(members));
    return members.length;
  };
}

function countCommon(context: Context, words: Words): Value {
  const refused = () => new ReplyError("ERR numkeys should be greater than 0");
  const count = readIndex(words[1] as Bytes, refused);
  if (count < 1) throw refused();
  if (count > words.length - 2) {
    throw new ReplyError("ERR Number of keys can't be greater than number of args");
  }
  let limit = 0;
  const options = new Arguments(words, 2 + count);
  while (options.left > 0) {
    if (options.option() !== "LIMIT" || options.left === 0) throw syntaxError();
    limit = readLimit(options.next());
  }
  const common = intersection(setsOf(context, words.slice(2, 2 + count))).length;
  return limit === 0 ? common : Math.min(common, limit);
}

/** Most members that a command counts; 0 for all. */
export function readLimit(text: Bytes): number {
  const refused = () => new ReplyError("ERR LIMIT can't be negative");
  const limit = readIndex(text, refused);
  if (limit < 0) throw refused();
  return limit;
}
