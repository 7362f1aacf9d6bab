import { toBytes, toText, type Word } from "./bytes.ts";
import { Client, type ClientEvents } from "./client.ts";
import { Executor } from "./execute.ts";
import { MissingArray, NoReply, ReplyError, Status, type Value } from "./reply.ts";
import type { Words } from "./words.ts";
import { restoreSnapshot, takeSnapshot } from "./snapshot.ts";

export interface EmbeddedDatabaseOptions {
  /**
   * The clock, epoch ms: of TIME, of scripts, and of keys that expire. It may be moved at any time.
   * @default the clock of this process
   */
  readonly now?: (() => number) | undefined;
  /**
   * Whether scripts may have Upstash's flag `allow-key-locking`, under which an undeclared key is an error. Redis
   * refuses the flag.
   * @default false
   */
  readonly keyLocking?: boolean | undefined;
  /** A snapshot to begin with. @default an empty database */
  readonly snapshot?: Uint8Array | undefined;
}

/** A reply as text: strings are read as UTF-8, integers beyond 2^53 are strings. */
export type TextReply = string | number | null | readonly TextReply[];

/** A connection to an {@link EmbeddedDatabase} in this process. */
export interface EmbeddedConnection {
  /** Runs a command to its end. Replies an error as a {@link ReplyError}; never throws one. */
  run(words: readonly Word[]): Value;
  /** {@link run} with words whose characters are bytes. */
  runBytes(words: Words): Value;
  close(): void;
}

/**
 * A Redis in this process: the commands that Sluice uses, with real Lua 5.1, over data in memory. It behaves as
 * Redis 7 with one database, without persistence, users and limits. Each command and each script runs to its end
 * before the next begins.
 *
 * @throws {InvalidSnapshot} if the given snapshot is damaged
 * @example
 * let now = Date.now();
 * const database = new EmbeddedDatabase({ now: () => now });
 * const queue = new Queue("emails", { transport: embedded(database) });
 * now += 60_000; // leases, delays and expiry see this clock
 */
export class EmbeddedDatabase {
  readonly #executor: Executor;
  /** For {@link call}. It is no connection: CLIENT LIST does not show it, and it gets no messages. */
  readonly #own = new Client({ push: () => {}, close: () => {} }, "127.0.0.1:0");

  constructor({ now = Date.now, keyLocking = false, snapshot }: EmbeddedDatabaseOptions = {}) {
    this.#executor = new Executor(() => now(), keyLocking);
    if (snapshot) this.restore(snapshot);
  }

  /**
   * Runs a command.
   * @param words the name of the command and its arguments
   * @throws {ReplyError} if the command replies with an error
   * @example database.call("HSET", "hash", "field", "value") // 1
   */
  call(...words: Word[]): TextReply {
    return textOf(this.#executor.run(this.#own, words.map(toBytes)));
  }

  /**
   * Opens a connection. It has its own transaction and subscriptions.
   * @param events what the connection gets beside replies
   * @param address shown by CLIENT LIST and MONITOR
   */
  connect(events: ClientEvents, address?: string): EmbeddedConnection {
    const client = this.#executor.server.connect(events, address);
    return {
      run: (words) => this.#executor.run(client, words.map(toBytes)),
      runBytes: (words) => this.#executor.run(client, words),
      close: () => this.#executor.server.disconnect(client),
    };
  }

  /** How many commands have run that may have changed data. */
  get writes(): number {
    return this.#executor.server.writes;
  }

  /** All data, for {@link restore}. Scripts are not in it: transports load them again. */
  snapshot(): Uint8Array {
    this.#begin();
    return takeSnapshot(this.#executor.server.store);
  }

  /**
   * Replaces all data by that of a snapshot.
   * @throws {InvalidSnapshot} if it is damaged or of another release; the data then stays
   */
  restore(snapshot: Uint8Array): void {
    this.#begin();
    restoreSnapshot(this.#executor.server.store, snapshot);
  }

  #begin(): void {
    this.#executor.server.store.begin(this.#executor.server.now());
  }
}

/**
 * @throws {ReplyError} if it is an error, or has one inside
 */
export function textOf(value: Value): TextReply {
  if (typeof value === "string") return toText(value);
  if (typeof value === "number" || value === null) return value;
  if (typeof value === "bigint") return String(value);
  if (value instanceof Status) return toText(value.text);
  if (value instanceof ReplyError) throw value;
  if (value instanceof MissingArray || value instanceof NoReply) return null;
  return value.map(textOf);
}
