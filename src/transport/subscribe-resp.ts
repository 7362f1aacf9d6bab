import { Transient } from "../retry.ts";
import type { Client } from "./resp-client.ts";
import type { OpenSubscription } from "./subscriber.ts";

/** Most unread characters. A subscription that has more ends. The longest message has some 130,000. */
const MOST_UNREAD = 1_000_000;

/**
 * Opens subscriptions over TCP, each on a connection of its own.
 * @param newClient makes a client that is not connected and does not reconnect
 * @param throwConnectError throws the error for a failure to connect
 */
export function openOverTcp(
  newClient: () => Client,
  throwConnectError: (error: unknown) => never,
): OpenSubscription {
  return async (channel, signal) => {
    const client = newClient();
    let unread: ReadableStreamDefaultController<string> | undefined;
    const close = () => {
      unread?.close();
      unread = undefined;
      // Later, because the client may still be decoding the message that called this.
      queueMicrotask(() => client.destroy());
    };
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
    const onMessage = (message: string) => {
      unread?.enqueue(message);
      if (unread && (unread.desiredSize ?? 0) <= 0) close();
    };
    client.on("error", close);
    signal.addEventListener("abort", close);
    try {
      await client.connect();
      await client.subscribe(channel, onMessage);
      // The client connects even if it was closed meanwhile.
      if (unread === undefined) throw new Transient("the connection was closed");
      return { messages, close };
    } catch (error) {
      close();
      return throwConnectError(error);
    } finally {
      signal.removeEventListener("abort", close);
    }
  };
}
