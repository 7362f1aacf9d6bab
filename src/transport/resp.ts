import { invalidArgument, SluiceError } from "../errors.ts";
import { Transient } from "../retry.ts";
import type { Transport } from "../queue/redis/transport.ts";
import { parsedUrl, REDIS } from "../url.ts";
import { ReplyPacer } from "./reply-pacer.ts";
import { isRefusedForNow, redisError, redact, type CommandWords } from "./redis-error.ts";
import { toReply } from "./reply.ts";
import { type Client, isErrorReply, loadRedisClient, newClient, type RedisPackage } from "./resp-client.ts";
import { retryPolicy, type RetryOptions } from "./retry.ts";
import { sender, type ExchangeResult, type Exchange } from "./send.ts";
import { openOverTcp } from "./subscribe-resp.ts";
import { subscriber, type OpenSubscription } from "./subscriber.ts";

export interface RespOptions {
  /** `redis://[user[:password]@]host[:port][/database]`, or `rediss://…` for TLS. */
  readonly url: string;
  /** When and how long to resend requests. */
  readonly retry?: RetryOptions | undefined;
  /**
   * Whether the server supports the script flag `allow-key-locking`. Open-source Redis does not.
   * @default false
   */
  readonly keyLocking?: boolean | undefined;
}

/**
 * Reaches Redis over TCP: for servers, tests and benchmarks. All requests share one connection. The first
 * `send` opens it; if it breaks, the next `send` opens another. Each subscription has a connection of its
 * own. The transport loads the package `@redis/client` when first used.
 *
 * @param from the URL, or the URL with options
 * @returns a transport whose `close` ends the subscriptions, waits for pending requests and closes the
 *   connection. Its `send` and `subscribe` throw `not_installed` if `@redis/client` is not installed
 * @throws {SluiceError} `invalid_argument` if the URL or `retry` is invalid
 * @example resp("redis://localhost:6379")
 * @example resp({ url: "redis://localhost:6379", retry: { deadline: 3_000 } })
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

/** The transport, once the package is loaded. */
function respOver(redis: RedisPackage, address: string, options: RespOptions): RespTransport {
  const { retry, keyLocking = false } = options;
  const { tryTimeout } = retryPolicy(retry);
  const connection = new Connection(redis, address, tryTimeout);
  const send = sender(exchangeOver(connection), { retry, keyLocking });
  const pending = new Set<Promise<unknown>>();
  const subscriptions = new Set<() => void>();
  const openOnce = openOverTcp(() => newClient(redis, address, tryTimeout), throwConnectError);
  const open: OpenSubscription = async (channel, signal) => {
    const { messages, close } = await openOnce(channel, signal);
    const unsubscribe = () => {
      subscriptions.delete(unsubscribe);
      close();
    };
    subscriptions.add(unsubscribe);
    return { messages, close: unsubscribe };
  };

  return {
    async send(commands, how) {
      const sending = send(commands, how);
      pending.add(sending);
      try {
        return await sending;
      } finally {
        pending.delete(sending);
      }
    },
    subscribe: subscriber(open, retry),
    async close() {
      for (const unsubscribe of subscriptions) unsubscribe();
      await Promise.allSettled(pending);
      connection.drop();
    },
  };
}

/**
 * The shared connection. The client's own reconnects, and its queue for commands without a connection, are
 * off: both would outlive a request's deadline. If the connection breaks, its commands are lost, and the next
 * try opens another one.
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

function exchangeOver(connection: Connection): Exchange {
  const pacer = new ReplyPacer();
  return async (commands, currentTry) => {
    let client: Client | undefined;
    // A connection that does not answer in time does not answer later requests either.
    currentTry.onEnd = () => {
      if (currentTry.reason instanceof Transient) connection.drop(client);
    };
    const connected = (client = await connection.open().catch(throwConnectError));
    // The try may have ended meanwhile. A copy sent now would not be counted as sent.
    if (currentTry.reason) throw currentTry.reason;
    // All in one turn, so that they are sent together and in order.
    const results = await Promise.all(commands.map((words) => sendCommand(connected, words)));
    await pacer.turn();
    return results;
  };
}

async function sendCommand(client: Client, words: CommandWords): Promise<ExchangeResult> {
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
function throwConnectError(error: unknown): never {
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

/** @throws {SluiceError} `invalid_argument`, without the URL: it may hold a password */
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
