import type { Bytes } from "./bytes.ts";
import type { Client } from "./client.ts";
import { ReplyError, type Value } from "./reply.ts";
import type { Server } from "./server.ts";
import type { Store } from "./store.ts";
import type { Words } from "./words.ts";

export type { Words };

/** What a command can reach. */
export interface Context {
  readonly store: Store;
  readonly server: Server;
  /** The connection that runs the command, or whose script does. */
  readonly client: Client;
}

/**
 * Which words of a command are keys: the words from `first` to `last` in steps, where a negative `last` counts
 * from the end; or, with `countAt`, as many words from `first` on as the word at `countAt` says, and the word at
 * `target`; or, with `find`, the first argument and what else it finds.
 */
export type KeyWords =
  | { readonly first: number; readonly last: number; readonly step: number }
  | { readonly first: number; readonly countAt: number; readonly target?: number }
  | { readonly first: 1; readonly find: (words: Words) => Bytes[] };

/** A command, as Redis describes it in COMMAND INFO. */
export interface Command {
  /** In lower case; a subcommand is named `script|load`. */
  readonly name: string;
  /** The number of words; negative: the least number. */
  readonly arity: number;
  readonly flags: readonly string[];
  /** Explicit ACL categories, such as `@hash`. The others follow from the flags. */
  readonly categories: readonly string[];
  readonly keys: KeyWords | undefined;
  /** Undefined if it has only subcommands. */
  readonly run: Run | undefined;
  readonly subcommands: readonly Command[];
}

/** Runs a command with as many words as its arity asks for. Throws or returns a {@link ReplyError}. */
export type Run = (context: Context, words: Words) => Value;

/** The keys of most commands: the first argument. */
export const oneKey: KeyWords = { first: 1, last: 1, step: 1 };
/** All arguments are keys. */
export const allKeys: KeyWords = { first: 1, last: -1, step: 1 };
/** As many keys as the word at `countAt` says, behind it; and the word at `target`. */
export const counted = (countAt: number, target?: number): KeyWords => ({
  first: countAt + 1,
  countAt,
  ...(target !== undefined && { target }),
});

/**
 * A table of commands.
 * @param categories the ACL categories of all of them
 * @param rows name, arity, flags in one text, keys, and what it does. A flag with `@` is a further category
 */
export function commands(
  categories: readonly string[],
  rows: readonly (readonly [string, number, string, KeyWords | undefined, Run])[],
): Command[] {
  return rows.map(([name, arity, text, keys, run]) => {
    const words = text.split(" ").filter((word) => word !== "");
    const flags = words.filter((word) => !word.startsWith("@"));
    const own = words.filter((word) => word.startsWith("@"));
    return { name, arity, flags, categories: [...categories, ...own], keys, run, subcommands: [] };
  });
}

/** A command that has only subcommands, such as SCRIPT. */
export function container(name: string, subcommands: readonly Command[]): Command {
  return { name, arity: -2, flags: [], categories: ["@slow"], keys: undefined, run: undefined, subcommands };
}

/** The words of a command that are keys. */
export function keysOf({ keys }: Command, words: Words): Bytes[] {
  if (keys === undefined) return [];
  if ("countAt" in keys) {
    const count = Number(words[keys.countAt]);
    const sources = words.slice(keys.first, keys.first + (Number.isInteger(count) ? Math.max(count, 0) : 0));
    return keys.target === undefined ? sources : [words[keys.target] as Bytes, ...sources];
  }
  if ("find" in keys) return keys.find(words);
  const last = keys.last < 0 ? words.length + keys.last : keys.last;
  const found: Bytes[] = [];
  for (let at = keys.first; at <= last && at < words.length; at += keys.step) found.push(words[at] as Bytes);
  return found;
}

export const fitsArity = ({ arity }: Command, words: Words): boolean =>
  arity < 0 ? words.length >= -arity : words.length === arity;

/** Reads the words of a command from left to right. */
export class Arguments {
  readonly #words: Words;
  #at: number;

  /** @param at the first word to read */
  constructor(words: Words, at: number) {
    this.#words = words;
    this.#at = at;
  }

  get left(): number {
    return this.#words.length - this.#at;
  }

  /** @throws {ReplyError} if there is none */
  next(): Bytes {
    const word = this.#words[this.#at];
    if (word === undefined) throw new ReplyError("ERR syntax error");
    this.#at += 1;
    return word;
  }

  /** The next word in capitals, for the name of an option. */
  option(): string {
    return this.next().toUpperCase();
  }

  /** The remaining words. */
  rest(): Words {
    const rest = this.#words.slice(this.#at);
    this.#at = this.#words.length;
    return rest;
  }
}
