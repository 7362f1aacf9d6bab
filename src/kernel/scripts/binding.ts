/** How a Lua script is bound to TypeScript: its keys and arguments by name, and how its reply is read. */
import { newerSchema, SluiceError } from "../../errors.ts";
import type { ExpiredTask } from "../record/dead-letter.ts";
import type { KeyName, Keys } from "../names/keys.ts";
import type { Reply, Script, ScriptCall } from "../transport.ts";

// Imports nothing. It only says in which order bundlers put the scripts, which meet this file before any of them.
// oxlint-disable-next-line unicorn/require-module-specifiers
export {} from "../../lua/order.gen.ts";

/** A script with the names of its keys and arguments, and the decoder of its reply. */
export interface Binding {
  readonly script: Script;
  readonly keys: readonly KeyName[];
  /** The arguments of every call, in order. */
  readonly args: readonly string[];
  /** The arguments of each item, in order. They follow the others. @default it takes no items */
  readonly each?: readonly string[];
  readonly decode: (reply: Reply) => unknown;
}

/** A script on keys of one queue, and the registry. */
export interface QueueBinding extends Binding {
  readonly keys: readonly (keyof Keys)[];
}

type Arguments<Names extends readonly string[]> = Readonly<Record<Names[number], string>>;

type ItemArguments<B extends Binding> = Arguments<B extends Required<Binding> ? B["each"] : readonly []>;

/**
 * A call of a bound script. A missing or misspelt argument does not compile.
 * @param at the keys of the queue
 * @param given the arguments by name
 * @param items the arguments of each item, by name
 */
export function callOf<const B extends Binding>(
  { script, keys, args, each = [] }: B,
  at: Readonly<Record<B["keys"][number], string>>,
  given: Arguments<B["args"]>,
  items: readonly ItemArguments<B>[] = [],
): ScriptCall {
  const flat = args.map((name) => given[name as B["args"][number]]);
  for (const item of items) for (const name of each) flat.push(item[name as keyof typeof item]);
  return { script, keys: keys.map((name: B["keys"][number]) => at[name]), args: flat };
}

function unexpected(script: string): SluiceError {
  return new SluiceError("unexpected_reply", `the script ${script} returned an undocumented reply`);
}

/**
 * Reads a reply from front to back, and throws `unexpected_reply` for one that breaks the contract of its
 * script.
 */
export class ReplyReader {
  readonly #script: string;
  readonly #items: readonly Reply[];
  #next = 0;

  constructor(script: string, reply: Reply | undefined) {
    if (!Array.isArray(reply)) throw unexpected(script);
    this.#script = script;
    this.#items = reply as readonly Reply[];
  }

  text(): string {
    const item = this.#items[this.#next++];
    if (typeof item !== "string") throw unexpected(this.#script);
    return item;
  }

  integer(): number {
    const item = this.#items[this.#next++];
    if (typeof item !== "number" || !Number.isSafeInteger(item)) throw unexpected(this.#script);
    return item;
  }

  textOrInteger(): string | number {
    return typeof this.#items[this.#next] === "string" ? this.text() : this.integer();
  }

  oneOf<const T extends string>(allowed: readonly T[]): T {
    const item = this.text() as T;
    if (!allowed.includes(item)) throw unexpected(this.#script);
    return item;
  }

  /** Whether all items were read. */
  get ended(): boolean {
    return this.#next >= this.#items.length;
  }

  /** Whether the next item is a text. */
  get isText(): boolean {
    return typeof this.#items[this.#next] === "string";
  }

  nested(): ReplyReader {
    return new ReplyReader(this.#script, this.#items[this.#next++]);
  }

  /** The next item, unread. */
  reply(): Reply {
    const item = this.#items[this.#next++];
    if (item === undefined) throw unexpected(this.#script);
    return item;
  }

  /** The rest of the reply, item by item. */
  rest<T>(read: (reader: this) => T): T[] {
    const found: T[] = [];
    while (this.#next < this.#items.length) found.push(read(this));
    return found;
  }

  /**
   * The status of the reply.
   * @throws {SluiceError} `newer_schema`, or `unexpected_reply` if it is not one of those allowed
   */
  status<const T extends string>(...allowed: T[]): T {
    if (this.#items[0] === "newer_schema") {
      throw newerSchema("a record of the queue");
    }
    return this.oneOf(allowed);
  }
}

/** Reads a task whose last lease had expired. */
export function readExpired(reader: ReplyReader): ExpiredTask {
  return { id: reader.text(), attempts: reader.integer() };
}

/** Reads a reply whose status must be `ok`. */
export function okay(script: string, reply: Reply): ReplyReader {
  const reader = new ReplyReader(script, reply);
  reader.status("ok");
  return reader;
}
