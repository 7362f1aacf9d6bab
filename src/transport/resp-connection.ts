import { Transient } from "../retry.ts";
import type { Transport } from "../queue/redis/transport.ts";
import { isRefusedForNow, redisError, redact, type CommandWords } from "./redis-error.ts";
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

  constructor(redis: RedisPackage, url: string, connectTimeout: number) {
    this.#redis = redis;
    this.#url = url;
    this.#connectTimeout = connectTimeout;
  }

  /** The client, once it is connected. */
  open(): Promise<Client> {
    return (this.#ready ??= this.#connect());
  }

  /** Closes a client. Its pending commands are lost. */
  drop(client = this.#client): void {
    client?.destroy();
    if (client !== this.#client) return;
    this.#client = undefined;
    this.#ready = undefined;
  }

  async #connect(): Promise<Client> {
    const client = newClient(this.#redis, this.#url, this.#connectTimeout);
    this.#client = client;
    // Later, so that the client first rejects its pending commands.
    client.on("error", () => queueMicrotask(() => this.drop(client)));
    try {
      await client.connect();
    } catch (error) {
      this.drop(client);
      throw error;
    }
    // The client connects even if it was dropped meanwhile.
    if (this.#client !== client) {
      client.destroy();
      throw new Transient("the connection was closed");
    }
    return client;
  }
}

/** Sends one command. Commands that are sent in one turn of the event loop go together, in order. */
export async function sendCommand(client: Client, words: CommandWords): Promise<ExchangeResult> {
  let reply: unknown;
  try {
    reply = await client.sendCommand(words);
  } catch (error) {
    if (isErrorReply(error)) return { redisError: error.message };
    return { lost: networkError(error, words) };
  }
  return { reply: toReply(reply) };
}

/**
 * Throws the error for a failure to connect. Refused credentials end the request; other failures may pass.
 */
export function throwConnectError(error: unknown): never {
  if (error instanceof Transient) throw error;
  if (!isErrorReply(error)) throw new Transient(networkError(error));
  if (isRefusedForNow(error.message)) throw new Transient(redact(error.message));
  throw redisError(error.message);
}

function networkError(error: unknown, ...commands: CommandWords[]): string {
  if (!(error instanceof Error)) return "a network error";
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  return `a network error (${code ?? redact(error.message, ...commands)})`;
}
