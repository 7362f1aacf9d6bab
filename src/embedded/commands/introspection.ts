import { commands, fitsArity, keysOf, type Command, type KeyWords, type Words } from "../command.ts";
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
  const range = rangeOf(keys);
  return [
    name,
    arity,
    flags.map((flag) => new Status(flag)),
    ...range,
    categoriesOf(command).map((category) => new Status(category)),
    [],
    keySpecs(command),
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

/** Where the keys are that are at fixed places: first, last, step. */
function rangeOf(keys: KeyWords | undefined): readonly number[] {
  if (keys === undefined) return [0, 0, 0];
  if ("last" in keys) return [keys.first, keys.last, keys.step];
  const only = "find" in keys ? keys.first : (keys.target ?? 0);
  return [only, only, only && 1];
}

/** Where the keys of a command are, as Redis 7 describes it. */
function keySpecs({ flags, keys }: Command): Value {
  if (keys === undefined) return [];
  const access = flags.includes("write") ? "RW" : "RO";
  const spec = (begin: Value, find: Value): Value => [
    "flags",
    [new Status(access), new Status("access")],
    "begin_search",
    begin,
    "find_keys",
    find,
  ];
  const at = (index: number): Value => ["type", "index", "spec", ["index", index]];
  const range = (last: number, step: number): Value => {
    return ["type", "range", "spec", ["lastkey", last, "keystep", step, "limit", 0]];
  };
  if ("last" in keys) {
    return [spec(at(keys.first), range(keys.last < 0 ? keys.last : keys.last - keys.first, keys.step))];
  }
  if ("find" in keys) {
    const unknown = ["type", "unknown", "spec", []];
    return [spec(at(keys.first), range(0, 1)), spec(unknown, unknown)];
  }
  const keynum = ["keynumidx", 0, "firstkey", keys.first - keys.countAt, "keystep", 1];
  const sources = spec(at(keys.countAt), ["type", "keynum", "spec", keynum]);
  return keys.target === undefined ? [sources] : [spec(at(keys.target), range(0, 1)), sources];
}
