import { processEnvironment, type Variables } from "../environment.ts";
import { SluiceError } from "../errors.ts";
import { causedBy, Transient } from "../retry.ts";
import type { Transport } from "../kernel/transport.ts";
import { ReplyPacer } from "./reply-pacer.ts";
import {
  type RespAddress,
  respAddress,
  type RespClusterOptions,
  type RespEnvironment,
  respOptions,
  type RespOptions,
} from "./resp-address.ts";
import { type Client, loadRedisClient, newClient, type RedisPackage } from "./resp-client.ts";
import { clusterWire } from "./resp-cluster.ts";
import { Connection, type RespWire, throwConnectError } from "./resp-connection.ts";
import { retryPolicy } from "./retry.ts";
import { type Exchange, sender, type SenderOptions } from "./send.ts";
import { openOverTcp } from "./subscribe-resp.ts";
import { subscriber } from "./subscriber.ts";

export type { RespClusterOptions, RespEnvironment, RespOptions } from "./resp-address.ts";

/**
 * Reaches Redis over TCP: for servers, tests and benchmarks. All requests share one connection, or
 * one to each master of a cluster. The first `send` opens it; if it breaks, the next `send` opens another.
 * All subscriptions share another one. The transport loads the package `@redis/client` when first used.
 *
 * @param from the URL, or the URL or the nodes of a cluster with options; or the environment, of which `REDIS_URL` is
 *   the URL, and `SLUICE_PREFIX` the prefix of the keys of all that uses the transport, unless it has a `prefix` of its
 *   own. Default: the environment of the process
 * @returns a transport whose `close` ends the subscriptions, waits for pending requests, and for those
 *   that follow at once from their replies, and closes the connection. Its `send` and `subscribe` throw `not_installed` if `@redis/client` is not installed
 * @throws {SluiceError} `invalid_argument` if an option is invalid
 * @example resp("redis://localhost:6379")
 * @example resp(process.env)
 * @example resp({ url: "redis://localhost:6379", retry: { deadline: 3_000 } })
 * @example resp({ nodes: ["redis://10.0.0.1:6379", "redis://10.0.0.2:6379"] })
 */
export function resp(
  from: string | RespOptions | RespClusterOptions | RespEnvironment | Variables = processEnvironment(),
): Transport & { close(): Promise<void> } {
  const { prefix, ...options } = respOptions(from);
  const address = respAddress(options);
  retryPolicy(options.retry);
  const closing = new AbortController();
  let opening: Promise<RespTransport> | undefined;
  const pending = new Set<Promise<unknown>>();
  /** The requests that were pending when it was closed. */
  let last: ReadonlySet<Promise<unknown>> | undefined;
  /** How many of them were answered in this turn of the event loop. */
  let answered = 0;
  const opened = (): Promise<RespTransport> => {
    // A dequeue that was aborted hands back what it has leased when it gets its reply.
    if (last && answered === 0) throw new SluiceError("redis_unreachable", "the transport is closed");
    return (opening ??= loadRedisClient().then((redis) => respOver(redis, address, options, closing.signal)));
  };

  return {
    prefix,
    connected: true,
    closing: closing.signal,
    ...(typeof address !== "string" && { cluster: true }),
    async send(commands, how) {
      const sending = opened().then((transport) => transport.send(commands, how));
      pending.add(sending);
      try {
        return await sending;
      } finally {
        pending.delete(sending);
        if (last?.has(sending)) {
          answered++;
          setTimeout(() => answered--);
        }
      }
    },
    subscribe: async (channel, how) => (await opened()).subscribe(channel, how),
    async close() {
      last ??= new Set(pending);
      await Promise.allSettled(last);
      if (last.size > 0) await new Promise((resolve) => setTimeout(resolve));
      await Promise.allSettled(pending);
      closing.abort();
      const transport = await opening?.catch(() => undefined);
      transport?.drop();
    },
  };
}

type RespTransport = Required<Pick<Transport, "send" | "subscribe">> & Pick<RespWire, "drop">;

/** The transport, once the package is loaded. */
function respOver(
  redis: RedisPackage,
  address: RespAddress,
  { retry, keyLocking = false }: Omit<RespOptions, "url">,
  closing: AbortSignal,
): RespTransport {
  const { tryTimeout } = retryPolicy(retry);
  const { send, newSubscriber, drop, where } =
    typeof address === "string"
      ? singleWire(redis, address, { retry, keyLocking }, tryTimeout)
      : clusterWire(redis, address, { retry, keyLocking }, tryTimeout);
  const subscribe = subscriber(openOverTcp(newSubscriber, throwConnectError), retry, closing);
  return {
    send: (commands, how) => send(commands, how).catch(throwNamed(where)),
    subscribe: (channel, how) => subscribe(channel, how).catch(throwNamed(where)),
    drop,
  };
}

/** Adds which Redis it is to the error of a request that it did not answer. */
function throwNamed(where: RespWire["where"]): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof SluiceError) || error.code !== "redis_unreachable") throw error;
    const { name, hint } = where();
    const text = error.message.replace(/^Redis /, `Redis at ${name} `);
    throw causedBy(error.cause, new SluiceError(error.code, MAYBE_TLS.test(text) ? text + hint : text));
  };
}

/** How requests end if only one of the two sides uses TLS. */
const MAYBE_TLS = /no answer within|ECONNRESET|ERR_SSL|[Ss]ocket closed/;

function singleWire(redis: RedisPackage, url: string, options: SenderOptions, tryTimeout: number): RespWire {
  const connection = new Connection(redis, url, tryTimeout);
  return {
    send: sender(exchangeOver(connection), options),
    newSubscriber: () => newClient(redis, url, tryTimeout),
    drop: () => connection.drop(),
    where: () => ({ name: addressOf(url), hint: tlsHint(connection, url) }),
  };
}

/** The host and port of a URL, without user and password. */
function addressOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname || "localhost"}:${port || 6379}`;
}

/** Asks about TLS if there is a server that has not even answered the greeting. */
function tlsHint({ state }: Connection, url: string): string {
  if (url.startsWith("rediss:")) {
    return state === "ready" ? "" : " (does this Redis use TLS? If not, its URL begins with redis://)";
  }
  return state === "connected" ? " (does this Redis use TLS? Then its URL begins with rediss://)" : "";
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
    const results = await Promise.all(commands.map((words) => connection.send(connected, words)));
    await pacer.turn();
    return results;
  };
}
