import type { Command, Context } from "../command.ts";
import type { Value } from "../reply.ts";
import type { Words } from "../words.ts";
import { administrationCommands } from "./administration.ts";
import { connectionCommands } from "./connection.ts";
import { copyingCommands } from "./copying.ts";
import { expiryCommands } from "./expiry.ts";
import { hashCommands } from "./hashes.ts";
import { introspectionCommands } from "./introspection.ts";
import { keyCommands } from "./keys.ts";
import { listCommands } from "./lists.ts";
import { poppingCommands } from "./popping.ts";
import { pubsubCommands } from "./pubsub.ts";
import { scriptingCommands, type RunningScript } from "./scripting.ts";
import { setOperationCommands } from "./set-operations.ts";
import { setCommands } from "./sets.ts";
import { sortingCommands } from "./sorting.ts";
import { sortedSetOperationCommands } from "./sorted-set-operations.ts";
import { sortedSetRangeCommands } from "./sorted-set-ranges.ts";
import { sortedSetCommands } from "./sorted-sets.ts";
import { stringCommands } from "./strings.ts";
import { subsequenceCommands } from "./subsequence.ts";
import { transactionCommands } from "./transactions.ts";

/** What the commands need of the one who runs them. */
export interface CommandHooks {
  /** Runs something while a script counts as running. */
  readonly during: <Result>(script: RunningScript, run: () => Result) => Result;
  /** Runs the queued commands of a client. */
  readonly transaction: (context: Context) => Value;
}

export interface CommandTable {
  /** The command, or the subcommand if the words name one that exists; undefined if it does not run. */
  find(words: Words): Command | undefined;
}

/** All commands of the embedded store. */
export function commandTable(hooks: CommandHooks): CommandTable {
  const all: Command[] = [
    ...stringCommands,
    ...subsequenceCommands,
    ...hashCommands,
    ...listCommands,
    ...sortedSetCommands,
    ...sortedSetRangeCommands,
    ...sortedSetOperationCommands,
    ...setCommands,
    ...setOperationCommands,
    ...poppingCommands,
    ...sortingCommands,
    ...keyCommands,
    ...expiryCommands,
    ...copyingCommands,
    ...scriptingCommands(hooks.during),
    ...pubsubCommands,
    ...transactionCommands(hooks.transaction),
    ...connectionCommands,
    ...administrationCommands,
    ...introspectionCommands(
      () => all,
      (words) => find(words),
    ),
  ];
  const byName = new Map(
    all.flatMap((command) => [command, ...command.subcommands]).map((one) => [one.name, one]),
  );

  // The names as clients write them, which are few, so that none is changed to lower case at each call.
  const spellings = new Map<string, Command | undefined>();
  function find(words: Words): Command | undefined {
    const [name = ""] = words;
    let command = spellings.get(name);
    if (command === undefined) {
      command = byName.get(name.toLowerCase());
      if (command === undefined || command.name.includes("|")) return undefined;
      spellings.set(name, command);
    }
    if (command.subcommands.length === 0 || words[1] === undefined) return command;
    return byName.get(`${command.name}|${words[1].toLowerCase()}`);
  }
  return { find };
}
