import { invalidArgument, SluiceError } from "../errors.ts";
import { Transient } from "../retry.ts";
import type { Transport } from "../queue/redis/transport.ts";
import { parsedUrl, REDIS } from "../url.ts";
import { PacedAnswers } from "./paced-answers.ts";
import { isRefusedForNow, redisError, withhold, type Words } from "./redis-error.ts";
import { toReply } from "./reply.ts";
import { type Client, isErrorReply, loadRedisClient, newClient, type RedisPackage } from "./resp-client.ts";
import { retryPolicy, type RetryOptions } from "./retry.ts";
import { sender, type Answer, type Exchange } from "./send.ts";
import { openingBy } from "./subscribe-resp.ts";
import { subscriber, type Opening } from "./subscriber.ts";

export interface RespOptions {
  /** `redis://[user[:password]@]host[:port][/database]`, or `rediss://…` for TLS. */
  readonly url: string;
  /** When and how long to resend. */
  readonly retry?: RetryOptions | undefined;
  /** For a server that knows the flag `allow-key-locking`; open-source Redis does not. @default false */
  readonly keyLocking?: boolean | undefined;
}

/**
 * Reaches Redis over TCP: for servers, tests and benches. One connection, opened by the first
 * `send` and again after it broke, carries all requests; those that run at the same time share it.
 * Each subscription has a connection of its own. It needs the package `@redis/client`, which it loads at its first use.
 *
 * @param from the URL, or the URL with options
 * @returns a transport whose `close` ends the subscriptions, waits for the requests under way and closes the
 *   connection. Its `send` and `subscribe` throw `not_installed` if `@redis/client` is not installed
 * @throws {SluiceError} `invalid_argument` if the URL or `retry` is invalid
 */
export function resp(from: string | RespOptions): Transport & { close(): Promise<void> } {
  const options = typeof from === "object" && from !== null ? from : { url: from };
  const address = redisAddress(options.url);
  retryPolicy(options.retry);
  let opening: Promise<RespTransport> | undefined;
  let closed = false;
  const opened = (): Promise<RespTransport> => {
    if (closed) throw new SluiceError("redis_unreachable", "the transport is closed");
    return (opening ??= loadRedisClient().then((redis) => respOver(redis, address, options)));
  };

  return {
    send: async (commands, how) => (await opened()).send(commands, how),
    subscribe: async (channel, how) => (await opened()).subscribe(channel, how),
    async close() {
      closed = true;
      const transport = await opening?.catch(() => undefined);
      await transport?.close();
    },
  };
}

interface RespTransport extends Transport {
  subscribe: NonNullable<Transport["subscribe"]>;
  close(): Promise<void>;
}

/** The transport, once the package that it needs is loaded. */
function respOver(redis: RedisPackage, address: string, options: RespOptions): RespTransport {
  const { retry, keyLocking = false } = options;
  const { tryTimeout } = retryPolicy(retry);
  const connection = new Connection(redis, address, tryTimeout);
  const send = sender(exchangeOver(connection), { retry, keyLocking });
  const underWay = new Set<Promise<unknown>>();
  const subscriptions = new Set<() => void>();
  const opening = openingBy(() => newClient(redis, address, tryTimeout), refuse);
  const open: Opening = async (channel, signal) => {
    const { messages, close } = await opening(channel, signal);
    const leave = () => {
      subscriptions.delete(leave);
      close();
    };
    subscriptions.add(leave);
    return { messages, close: leave };
  };

  return {
    async send(commands, how) {
      const sending = send(commands, how);
      underWay.add(sending);
      try {
        return await sending;
      } finally {
        underWay.delete(sending);
      }
    },
    subscribe: subscriber(open, retry),
    async close() {
      for (const leave of subscriptions) leave();
      await Promise.allSettled(underWay);
      connection.drop();
    },
  };
}

/**
 * The one connection. The client's own reconnecting and its queue for commands without a
 * connection are off: both would outlive a request's deadline. A connection that breaks is
 * forgotten, its commands are lost, and the next try opens another.
 */
class Connection {
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

  /** Closes the connection, if it is still this client's, and loses what is under way on it. */
  drop(client = this.#client): void {
    client?.destroy();
    if (client !== this.#client) return;
    this.#client = undefined;
    this.#ready = undefined;
  }

  async #connect(): Promise<Client> {
    const client = newClient(this.#redis, this.#url, this.#connectTimeout);
    this.#client = client;
    // Whoever waits for a reply is told by the client, right after this; only then it may go.
    client.on("error", () => queueMicrotask(() => this.drop(client)));
    try {
      await client.connect();
    } catch (error) {
      this.drop(client);
      throw error;
    }
    // Dropped while it was being opened: the client connects all the same.
    if (this.#client !== client) {
      client.destroy();
      throw new Transient("the connection was closed");
    }
    return client;
  }
}

function exchangeOver(connection: Connection): Exchange {
  const paced = new PacedAnswers();
  return async (commands, own) => {
    let client: Client | undefined;
    // A connection that does not answer in time answers nobody behind this request either.
    own.onEnd = () => {
      if (own.reason instanceof Transient) connection.drop(client);
    };
    const connected = (client = await connection.open().catch(refuse));
    // The try may have ended meanwhile; a copy sent now would be one that nobody counts.
    if (own.reason) throw own.reason;
    // Called in one go, so that they leave together and in order.
    const answers = await Promise.all(commands.map((words) => answer(connected, words)));
    await paced.turn();
    return answers;
  };
}

async function answer(client: Client, words: Words): Promise<Answer> {
  let reply: unknown;
  try {
    reply = await client.sendCommand(words);
  } catch (error) {
    if (isErrorReply(error)) return { redisError: error.message };
    return { lost: networkError(error, words) };
  }
  return { reply: toReply(reply) };
}

/** Why no connection was opened. Refused credentials end the request; all else may pass. */
function refuse(error: unknown): never {
  if (error instanceof Transient) throw error;
  if (!isErrorReply(error)) throw new Transient(networkError(error));
  if (isRefusedForNow(error.message)) throw new Transient(withhold(error.message));
  throw redisError(error.message);
}

function networkError(error: unknown, ...commands: Words[]): string {
  if (!(error instanceof Error)) return "a network error";
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  return `a network error (${code ?? withhold(error.message, ...commands)})`;
}

/** @throws {SluiceError} that never repeats the URL: it may hold a password */
function redisAddress(value: unknown): string {
  const url = parsedUrl(value, REDIS);
  if (url && /^(?:\/\d*)?$/.test(url.pathname) && canDecode(url.username) && canDecode(url.password)) {
    return url.href;
  }
  throw invalidArgument(
    "url",
    "must be of the form redis://[user[:password]@]host[:port][/database] or rediss://…",
  );
}

function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
