/** How a Lua script is bound to TypeScript: its keys and arguments by name, and how its reply is read. */
import { SluiceError } from "../../errors.ts";
import type { KeyName, Keys } from "../core/keys.ts";
import type { Reply, Script, ScriptCall } from "./transport.ts";

export interface Binding {
  readonly script: Script;
  readonly keys: readonly KeyName[];
  /** Arguments that every call has, in order. */
  readonly args: readonly string[];
  /** Arguments that follow once for each item, in order. */
  readonly each: readonly string[];
  readonly decode: (reply: Reply) => unknown;
}

type Arguments<Names extends readonly string[]> = Readonly<Record<Names[number], string>>;

/** A call of a bound script. A missing or misspelt argument does not compile. */
export function callOf<const B extends Binding>(
  { script, keys, args, each }: B,
  at: Pick<Keys, B["keys"][number]>,
  given: Arguments<B["args"]>,
  items: readonly Arguments<B["each"]>[] = [],
): ScriptCall {
  const flat = args.map((name) => given[name as B["args"][number]]);
  for (const item of items) for (const name of each) flat.push(item[name as B["each"][number]]);
  return { script, keys: keys.map((name: B["keys"][number]) => at[name]), args: flat };
}

function unexpected(script: string): SluiceError {
  return new SluiceError(
    "unexpected_reply",
    `script ${script} gave a reply of another form than it documents`,
  );
}

/** Reads a reply from front to back and throws at what the contract does not promise. */
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

  /** Whether a text comes next. */
  get isText(): boolean {
    return typeof this.#items[this.#next] === "string";
  }

  nested(): ReplyReader {
    return new ReplyReader(this.#script, this.#items[this.#next++]);
  }

  /** What comes next, as it is. */
  reply(): Reply {
    const item = this.#items[this.#next++];
    if (item === undefined) throw unexpected(this.#script);
    return item;
  }

  /** What is left, item by item of `read`. */
  rest<T>(read: (reader: this) => T): T[] {
    const found: T[] = [];
    while (this.#next < this.#items.length) found.push(read(this));
    return found;
  }

  /** The status word, which has to be one of those given. */
  status<const T extends string>(...allowed: T[]): T {
    if (this.#items[0] === "newer_schema") {
      throw new SluiceError(
        "newer_schema",
        "the queue holds a record of a newer release of Sluice; deploy that release here too",
      );
    }
    return this.oneOf(allowed);
  }
}

/** A reply whose status has to be `ok`. */
export function okay(script: string, reply: Reply): ReplyReader {
  const reader = new ReplyReader(script, reply);
  reader.status("ok");
  return reader;
}
