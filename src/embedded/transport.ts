import { setImmediate as nextTurn } from "node:timers/promises";
import { SluiceError } from "../errors.ts";
import type { Transport } from "../kernel/transport.ts";
import type { CommandWords } from "../transports/command-words.ts";
import type { RetryOptions } from "../transports/retry.ts";
import { sender, type Exchange, type ExchangeResult } from "../transports/send.ts";
import { subscriber, type OpenSubscription } from "../transports/subscriber.ts";
import { textOf, type EmbeddedConnection, type EmbeddedDatabase } from "./database.ts";
import { ReplyError, type Value } from "./reply.ts";

export interface EmbeddedTransportOptions {
  /** When and how long to resend requests; as for the other transports. */
  readonly retry?: RetryOptions | undefined;
  /**
   * Whether a script may only name keys that it declares, as on Upstash. The database must accept the flag: see
   * `keyLocking` of {@link EmbeddedDatabase}.
   * @default false
   */
  readonly keyLocking?: boolean | undefined;
}

/** Most unread characters of a subscription, as for {@link resp}. */
const MOST_UNREAD = 1_000_000;

/**
 * Reaches a database in this process.
 * @returns a transport; after `close` its `send` and `subscribe` throw `redis_unreachable`
 * @throws {SluiceError} `invalid_argument` if `retry` is invalid
 * @example const transport = embedded(new EmbeddedDatabase());
 */
export function embedded(
  database: EmbeddedDatabase,
  options: EmbeddedTransportOptions = {},
): Transport & { close(): Promise<void> } {
  const { retry, keyLocking = false } = options;
  const connection = database.connect({ push: () => {}, close: () => {} });
  const subscriptions = new Set<() => void>();
  const send = sender(exchangeWith(connection), { retry, keyLocking });
  const closing = new AbortController();
  const subscribe = subscriber(openIn(database, subscriptions), retry, closing.signal);
  const checkOpen = () => {
    if (closing.signal.aborted) throw new SluiceError("redis_unreachable", "the transport is closed");
  };

  return {
    closing: closing.signal,
    async send(commands, how) {
      checkOpen();
      return await send(commands, how);
    },
    async subscribe(channel, how) {
      checkOpen();
      return await subscribe(channel, how);
    },
    async close() {
      closing.abort();
      for (const close of subscriptions) close();
      connection.close();
    },
  };
}

function exchangeWith(connection: EmbeddedConnection): Exchange {
  return async (commands) => {
    const results = commands.map((words) => result(connection, words));
    // As over a network, so that callers in a loop leave the event loop to others. Not the global function, which
    // a test may have replaced by one that waits for its clock.
    await nextTurn();
    return results;
  };
}

function result(connection: EmbeddedConnection, words: CommandWords): ExchangeResult {
  const value = connection.run(words);
  if (value instanceof ReplyError) return { redisError: value.message };
  try {
    return { reply: textOf(value) };
  } catch {
    throw new SluiceError("unexpected_reply", "Redis replied with a value that RESP2 does not have");
  }
}

function openIn(database: EmbeddedDatabase, open: Set<() => void>): OpenSubscription {
  return async (channel) => {
    let unread: ReadableStreamDefaultController<string> | undefined;
    const close = () => {
      open.delete(close);
      connection.close();
      unread?.close();
      unread = undefined;
    };
    const onPush = (value: Value) => {
      const [kind, , message] = value as readonly Value[];
      if (kind !== "message" || !unread) return;
      unread.enqueue(textOf(message as Value) as string);
      if ((unread.desiredSize ?? 0) <= 0) close();
    };
    const connection = database.connect({ push: onPush, close });
    const messages = new ReadableStream<string>(
      {
        start: (controller) => void (unread = controller),
        cancel() {
          unread = undefined;
          close();
        },
      },
      { highWaterMark: MOST_UNREAD, size: (message) => message.length },
    );
    connection.run(["SUBSCRIBE", channel]);
    open.add(close);
    return { messages, close };
  };
}
