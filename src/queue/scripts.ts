/**
 * Binds each Lua script to TypeScript: the names of its keys and arguments, as in its contract block,
 * and the decoder of its reply. Separate exports, so that a bundle carries only what it calls.
 */
import { SluiceError } from "../errors.ts";
import type { KeyName, Keys } from "./keys.ts";
import * as lua from "./lua.gen.ts";
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
class ReplyReader {
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

  oneOf<const T extends string>(...allowed: T[]): T {
    const item = this.text() as T;
    if (!allowed.includes(item)) throw unexpected(this.#script);
    return item;
  }

  nested(): ReplyReader {
    return new ReplyReader(this.#script, this.#items[this.#next++]);
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
    return this.oneOf(...allowed);
  }
}

function okay(script: string, reply: Reply): ReplyReader {
  const reader = new ReplyReader(script, reply);
  reader.status("ok");
  return reader;
}

export const enqueueScript = {
  script: lua.enqueue,
  keys: ["pending", "delayed", "tasks"],
  args: ["testNow"],
  each: ["id", "when", "record"],
  decode: (reply: Reply) => okay("enqueue", reply).rest((item) => item.integer() === 1),
} as const satisfies Binding;

export const dequeueScript = {
  script: lua.dequeue,
  keys: ["pending", "working", "delayed", "tasks", "expiry", "dead"],
  args: ["testNow", "maxTasks", "lease", "token", "resend", "maxBytes"],
  each: [],
  decode: (reply: Reply) => {
    const reader = okay("dequeue", reply);
    const nextDueAt = reader.integer();
    const tasks = reader.rest((item) => ({
      id: item.text(),
      attempt: item.integer(),
      lease: item.integer(),
      deadlineAt: item.integer(),
      record: item.text(),
    }));
    return { nextDueAt, tasks };
  },
} as const satisfies Binding;

export const settleScript = {
  script: lua.settle,
  keys: ["pending", "working", "delayed", "tasks", "expiry", "dead"],
  args: ["testNow"],
  each: ["id", "lease", "token", "outcome", "ms", "count", "text"],
  decode: (reply: Reply) =>
    okay("settle", reply).rest((item) => {
      const settled = item.nested();
      return {
        state: settled.oneOf("completed", "rejected", "pending", "delayed", "working", "lost", "newer"),
        reason: settled.oneOf("", "rejected", "attempts_exhausted", "lease_expired", "cancelled"),
        at: settled.integer(),
        cancelRequested: settled.integer() === 1,
      };
    }),
} as const satisfies Binding;

export const cancelScript = {
  script: lua.cancel,
  keys: ["working", "delayed", "tasks", "expiry"],
  args: ["testNow", "id", "lease"],
  each: [],
  decode: (reply: Reply) =>
    new ReplyReader("cancel", reply).status(
      "rejected",
      "working",
      "not_found",
      "already_ended",
      "lease_lost",
    ),
} as const satisfies Binding;

export const sweepScript = {
  script: lua.sweep,
  keys: ["pending", "working", "delayed", "tasks", "expiry", "dead"],
  args: ["testNow", "limit"],
  each: [],
  decode: (reply: Reply) => {
    const reader = okay("sweep", reply);
    return {
      promoted: reader.integer(),
      reclaimed: reader.integer(),
      rejected: reader.integer(),
      expired: reader.integer(),
      more: reader.integer() === 1,
      newer: reader.integer(),
    };
  },
} as const satisfies Binding;

export const inspectScript = {
  script: lua.inspect,
  keys: ["working", "delayed", "tasks"],
  args: ["id"],
  each: [],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("inspect", reply);
    if (reader.status("ok", "not_found") === "not_found") return null;
    return {
      state: reader.oneOf("pending", "delayed", "working", "completed", "rejected"),
      at: reader.integer(),
      fixed: reader.text(),
      changing: reader.text(),
    };
  },
} as const satisfies Binding;

export const countScript = {
  script: lua.count,
  keys: ["pending", "working", "delayed", "tasks", "dead"],
  args: ["testNow"],
  each: [],
  decode: (reply: Reply) => {
    const reader = okay("count", reply);
    return {
      pending: reader.integer(),
      delayed: reader.integer(),
      working: reader.integer(),
      rejected: reader.integer(),
      oldestAge: reader.integer(),
      nextDueAt: reader.integer(),
      broken: reader.integer(),
    };
  },
} as const satisfies Binding;

export const registerScript = {
  script: lua.register,
  keys: ["queues"],
  args: ["testNow"],
  each: ["queue"],
  decode: (reply: Reply) => okay("register", reply).rest((item) => item.text()),
} as const satisfies Binding;

export const queuesScript = {
  script: lua.queues,
  keys: ["queues"],
  args: ["testNow", "cursor", "size"],
  each: [],
  decode: (reply: Reply) => {
    const reader = okay("queues", reply);
    return {
      now: reader.integer(),
      cursor: reader.text(),
      queues: reader.rest((item) => ({ name: item.text(), seenAt: item.integer() })),
    };
  },
} as const satisfies Binding;

export const forgetScript = {
  script: lua.forget,
  keys: ["queues"],
  args: ["testNow", "idle"],
  each: ["queue"],
  decode: (reply: Reply) => okay("forget", reply).integer(),
} as const satisfies Binding;
