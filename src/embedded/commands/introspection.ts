import { commands, fitsArity, keysOf, type Command, type Words } from "../command.ts";
import { missingArray, ReplyError, Status, type Value } from "../reply.ts";

/**
 * COMMAND, which describes the commands.
 * @param all returns all of them, this one too
 * @param find finds one by name
 */
export function introspectionCommands(
  all: () => readonly Command[],
  find: (words: Words) => Command | undefined,
) {
  const describeAll = () => all().map(describe);
  const info = (names: readonly string[]) =>
    names.map((name) => {
      const found = find(name.toLowerCase().split("|"));
      return found ? describe(found) : missingArray;
    });
  const flags = "loading stale";
  const [root] = commands(["@connection"], [["command", -1, flags, undefined, describeAll]]);
  const subcommands = commands(
    ["@connection"],
    [
      ["command|count", 2, flags, undefined, () => all().length],
      ["command|list", -2, flags, undefined, () => all().map(({ name }) => name)],
      [
        "command|info",
        -2,
        flags,
        undefined,
        (_, [, , ...names]) => (names.length === 0 ? describeAll() : info(names)),
      ],
      ["command|docs", -2, flags, undefined, () => []],
      ["command|getkeys", -4, flags, undefined, (_, [, , ...words]) => getKeys(words, find(words))],
    ],
  );
  return [{ ...(root as Command), subcommands }];
}

function getKeys(words: Words, command: Command | undefined): Value {
  if (!command) throw new ReplyError("ERR Invalid command specified");
  if (command.keys === undefined) throw new ReplyError("ERR The command has no key arguments");
  if (!fitsArity(command, words))
    throw new ReplyError("ERR Invalid number of arguments specified for command");
  return keysOf(command, words);
}

function describe(command: Command): Value {
  const { name, arity, flags, keys, subcommands } = command;
  const range = keys && "last" in keys ? [keys.first, keys.last, keys.step] : [0, 0, 0];
  return [
    name,
    arity,
    flags.map((flag) => new Status(flag)),
    ...range,
    categoriesOf(command).map((category) => new Status(category)),
    [],
    keys === undefined ? [] : [keySpec(command)],
    subcommands.map(describe),
  ];
}

function categoriesOf({ flags, categories }: Command): readonly string[] {
  const own = new Set(categories);
  if (flags.includes("write")) own.add("@write");
  if (flags.includes("readonly") && !own.has("@scripting")) own.add("@read");
  if (!own.has("@slow")) own.add(flags.includes("fast") ? "@fast" : "@slow");
  return [...own];
}

/** Where the keys of a command are, as Redis 7 describes it. */
function keySpec({ flags, keys }: Command): Value {
  if (keys === undefined) return [];
  const access = flags.includes("write") ? "RW" : "RO";
  const find =
    "countAt" in keys
      ? ["type", "keynum", "spec", ["keynumidx", 0, "firstkey", keys.first - keys.countAt, "keystep", 1]]
      : [
          "type",
          "range",
          "spec",
          ["lastkey", keys.last < 0 ? keys.last : keys.last - keys.first, "keystep", keys.step, "limit", 0],
        ];
  const begin = "countAt" in keys ? keys.countAt : keys.first;
  return [
    "flags",
    [new Status(access), new Status("access")],
    "begin_search",
    ["type", "index", "spec", ["index", begin]],
    "find_keys",
    find,
  ];
}
