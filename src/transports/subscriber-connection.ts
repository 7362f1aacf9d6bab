import { Transient } from "../retry.ts";
import type { Client } from "./resp-client.ts";

/**
 * Time between two PINGs, ms. A connection ends if one has no answer when the next is due, so within twice this
 * time. Otherwise a side that vanished without closing it would never be noticed: a subscriber sends nothing else.
 */
const KEEP_ALIVE = 10_000;

/** Gets the messages of one channel. */
export interface Reader {
  readonly channel: string;
  readonly onMessage: (message: string) => void;
  /** Called once, when the connection ends. */
  readonly onEnd: () => void;
}

interface Channel {
  readonly readers: Set<Reader>;
  readonly confirmed: Promise<void>;
}

/** A connection that many subscriptions share. It ends with the last of them. */
export class SubscriberConnection {
  readonly #client: Client;
  readonly #connected: Promise<unknown>;
  readonly #readers = new Set<Reader>();
  readonly #channels = new Map<string, Channel>();
  /** The channels that are being left. */
  readonly #leaving = new Map<string, Promise<unknown>>();
  #pings: ReturnType<typeof setInterval> | undefined;
  #isOpen = true;

  /** @param client that is not connected and does not reconnect */
  constructor(client: Client) {
    this.#client = client;
    client.on("error", () => this.#end());
    this.#connected = client.connect().then(() => this.#keepAlive());
    this.#connected.catch(() => this.#end());
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * Adds a reader. Resolves when Redis has confirmed its subscription; rejects if Redis refuses it, or the
   * connection ends before. The reader must then still be removed.
   */
  async add(reader: Reader): Promise<void> {
    const { channel: name } = reader;
    this.#readers.add(reader);
    await this.#connected;
    while (this.#leaving.has(name)) await this.#leaving.get(name);
    if (!this.#isOpen || !this.#readers.has(reader)) throw new Transient("the connection was closed");
    let channel = this.#channels.get(name);
    if (!channel) this.#channels.set(name, (channel = this.#subscribe(name)));
    channel.readers.add(reader);
    await channel.confirmed;
    if (!this.#isOpen) throw new Transient("the connection was closed");
  }

  /** Removes a reader, which gets no more messages. */
  remove(reader: Reader): void {
    if (!this.#readers.delete(reader)) return;
    const channel = this.#channels.get(reader.channel);
    channel?.readers.delete(reader);
    if (this.#readers.size === 0) this.#end();
    else if (channel?.readers.size === 0) this.#leave(reader.channel, channel);
  }

  #subscribe(name: string): Channel {
    const readers = new Set<Reader>();
    const onMessage = (message: string) => {
      for (const reader of readers) reader.onMessage(message);
    };
    return { readers, confirmed: this.#client.subscribe(name, onMessage) };
  }

  #leave(name: string, { confirmed }: Channel): void {
    this.#channels.delete(name);
    const left = confirmed
      .then(() => this.#client.unsubscribe(name))
      .catch(() => {})
      .then(() => this.#leaving.delete(name));
    this.#leaving.set(name, left);
  }

  #keepAlive(): void {
    // The client connects even if it was closed meanwhile.
    if (!this.#isOpen) return this.#client.destroy();
    let answered = true;
    this.#pings = setInterval(() => {
      if (!answered) {
        // A process that was busy reads the answer first.
        setImmediate(() => answered || this.#end());
        return;
      }
      answered = false;
      const answer = () => void (answered = true);
      // A refusal is an answer too. If the connection ends, this changes nothing.
      this.#client.ping().then(answer, answer);
    }, KEEP_ALIVE);
  }

  #end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearInterval(this.#pings);
    for (const { onEnd } of this.#readers) onEnd();
    this.#readers.clear();
    // Later, because the client may still be decoding the message that called this.
    queueMicrotask(() => this.#client.destroy());
  }
}
