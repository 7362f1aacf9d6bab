import { Transient } from "../retry.ts";
import type { Client } from "./resp-client.ts";
import type { OpenSubscription } from "./subscriber.ts";
import { type Reader, SubscriberConnection } from "./subscriber-connection.ts";

/** Most unread characters. A subscription that has more ends. The longest message has some 130,000. */
const MOST_UNREAD = 1_000_000;

/**
 * Opens subscriptions over TCP. All share one connection.
 * @param newClient makes a client that is not connected and does not reconnect
 * @param throwConnectError throws the error for a failure to connect
 */
export function openOverTcp(
  newClient: () => Client,
  throwConnectError: (error: unknown) => never,
): OpenSubscription {
  let shared: SubscriberConnection | undefined;
  return async (channel, signal) => {
    const connection = shared?.isOpen ? shared : new SubscriberConnection(newClient());
    shared = connection;
    let unread: ReadableStreamDefaultController<string> | undefined;
    const source: UnderlyingDefaultSource<string> = {
      start: (controller) => void (unread = controller),
      cancel() {
        unread = undefined;
        close();
      },
    };
    const messages = new ReadableStream(source, {
      highWaterMark: MOST_UNREAD,
      size: (message) => message.length,
    });
    const end = () => {
      unread?.close();
      unread = undefined;
    };
    const reader: Reader = {
      channel,
      onMessage(message) {
        unread?.enqueue(message);
        if (unread && (unread.desiredSize ?? 0) <= 0) close();
      },
      onEnd: end,
    };
    const close = () => {
      end();
      connection.remove(reader);
    };
    const onAbort = () => {
      close();
      // A connection that does not answer in time is left to its subscriptions.
      if (signal.reason instanceof Transient && shared === connection) shared = undefined;
    };
    signal.addEventListener("abort", onAbort);
    try {
      await connection.add(reader);
      return { messages, close };
    } catch (error) {
      close();
      return throwConnectError(error);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  };
}
