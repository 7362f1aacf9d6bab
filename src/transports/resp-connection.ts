import { Refused, Transient } from "../retry.ts";
import type { Transport } from "../kernel/transport.ts";
import type { CommandWords } from "./command-words.ts";
import { redisError, redact } from "./redis-error.ts";
import { isOutOfService, isRefusedForNow } from "./redis-refusal.ts";
import { toReply } from "./reply.ts";
import { type Client, isErrorReply, newClient, type RedisPackage } from "./resp-client.ts";
import type { ExchangeResult } from "./send.ts";

/** How the transport reaches one Redis, or a cluster. */
export interface RespWire {
  readonly send: Transport["send"];
  /** A client for one subscription, not yet connected. */
  readonly newSubscriber: () => Client;
  /** Closes all connections. Their pending commands are lost. */
  readonly drop: () => void;
  /** Which Redis it is, for errors, and what may be wrong with the address. */
  readonly where: () => { readonly name: string; readonly hint: string };
}

/**
 * A connection that many requests share. The client's own reconnects, and its queue for commands without a
 * connection, are off: both would outlive a request's deadline. If the connection breaks, its commands are
 * lost, and the next try opens another one.
 */
export class Connection {
  readonly #redis: RedisPackage;
  readonly #url: string;
  readonly #connectTimeout: number;
  #client: Client | undefined;
  #ready: Promise<Client> | undefined;
  /** How far the connections have come: `connected` if there is a server, `ready` if it has answered. */
  state: "none" | "connected" | "ready" = "none";

  constructor(redis: RedisPackage, url: string, connectTimeout: number) {
    this.#redis = redis;
    this.#url = url;
    this.#connectTimeout = connectTimeout;
  }

  /** The client, once it is connected. */
  open(): Promise<Client> {
    return (this.#ready ??= this.#connect());
  }

  /**
   * Sends one command to a client of this connection. Commands that are sent in one turn of the event loop go
   * together, in order. If that Redis is out of service, the next request opens another connection: the name
   * may lead to another Redis by then.
   */
  async send(client: Client, words: CommandWords): Promise<ExchangeResult> {
    let reply: unknown;
    try {
      reply = await client.sendCommand(words);
    } catch (error) {
      if (!isErrorReply(error)) return { lost: networkError(error, words) };
      if (isOutOfService(error.message)) this.#leave(client);
      return { redisError: error.message };
    }
    return { reply: toReply(reply) };
  }

  /** Closes a client. Its pending commands are lost. */
  drop(client = this.#client): void {
    client?.destroy();
    this.#forget(client);
  }

  /** Closes a client once its pending commands are answered. */
  #leave(client: Client): void {
    if (this.#forget(client)) client.close().catch(() => client.destroy());
  }

  /** @returns whether it was the client of new requests */
  #forget(client: Client | undefined): boolean {
    if (client !== this.#client) return false;
    this.#client = undefined;
    this.#ready = undefined;
    return true;
  }

  async #connect(): Promise<Client> {
    const client = newClient(this.#redis, this.#url, this.#connectTimeout);
    this.#client = client;
    client.on("connect", () => {
      if (this.state === "none") this.state = "connected";
    });
    let cause: unknown;
    client.on("error", (error) => {
      cause ??= error;
      // Later, so that the client first rejects its pending commands.
      queueMicrotask(() => this.drop(client));
    });
    try {
      await client.connect();
    } catch (error) {
      this.drop(client);
      // Dropping it may have been faster: then `error` is only that it was dropped.
      throw cause ?? error;
    }
    this.state = "ready";
    // The client connects even if it was dropped meanwhile.
    if (this.#client !== client) {
      client.destroy();
      throw new Transient("the connection was closed");
    }
    return client;
  }
}

/**
 * Throws the error for a failure to connect. Refused credentials end the request; other failures may pass.
 */
export function throwConnectError(error: unknown): never {
  if (error instanceof Transient) throw error;
  if (!isErrorReply(error)) throw new Transient(networkError(error));
  if (isRefusedForNow(error.message)) throw new Refused(redact(error.message));
  throw redisError(error.message);
}

function networkError(error: unknown, ...commands: CommandWords[]): string {
  if (!(error instanceof Error)) return "a network error";
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  return `a network error (${code ?? redact(error.message, ...commands)})`;
}
