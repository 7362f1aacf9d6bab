import type { Bytes } from "./bytes.ts";
import type { Value } from "./reply.ts";
import type { Words } from "./words.ts";

/** What a client gets without asking for it, and how it is closed from inside. */
export interface ClientEvents {
  /** A message, a confirmation of a subscription, or a line of MONITOR. */
  readonly push: (value: Value) => void;
  /** The database closes the connection, after the reply to the current command. */
  readonly close: () => void;
}

let lastId = 0;

/** A connection to the database. */
export class Client {
  readonly id = ++lastId;
  readonly #events: ClientEvents;
  /** Such as `127.0.0.1:50001`. */
  readonly address: string;
  name: Bytes = "";
  readonly channels = new Set<Bytes>();
  readonly patterns = new Set<Bytes>();
  /** The commands since MULTI; undefined outside a transaction. */
  queued: Words[] | undefined;
  /** Whether a command since MULTI was refused. */
  isBroken = false;
  isMonitor = false;

  constructor(events: ClientEvents, address: string) {
    this.#events = events;
    this.address = address;
  }

  get subscriptions(): number {
    return this.channels.size + this.patterns.size;
  }

  push(value: Value): void {
    this.#events.push(value);
  }

  close(): void {
    this.#events.close();
  }
}
