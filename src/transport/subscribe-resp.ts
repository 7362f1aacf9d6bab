import { Transient } from "../retry.ts";
import type { Client } from "./resp-client.ts";
import type { Opening } from "./subscriber.ts";

/** Most characters that wait for a slow reader; then the subscription ends. The longest message is some 130,000. */
const MOST_BEHIND = 1_000_000;

/**
 * Subscribes on a connection of its own.
 * @param newClient makes a client that is not connected and does not reconnect
 * @param refuse throws what a failure to connect means
 */
export function openingBy(newClient: () => Client, refuse: (error: unknown) => never): Opening {
  return async (channel, signal) => {
    const client = newClient();
    let feed: ReadableStreamDefaultController<string> | undefined;
    const close = () => {
      feed?.close();
      feed = undefined;
      // Later, as this may be within a message, which the client is still decoding.
      queueMicrotask(() => client.destroy());
    };
    const source: UnderlyingDefaultSource<string> = {
      start: (controller) => void (feed = controller),
      cancel() {
        feed = undefined;
        close();
      },
    };
    const messages = new ReadableStream(source, {
      highWaterMark: MOST_BEHIND,
      size: (message) => message.length,
    });
    const hear = (message: string) => {
      feed?.enqueue(message);
      if (feed && (feed.desiredSize ?? 0) <= 0) close();
    };
    client.on("error", close);
    signal.addEventListener("abort", close);
    try {
      await client.connect();
      await client.subscribe(channel, hear);
      // Closed while it was being opened: the client connects all the same.
      if (feed === undefined) throw new Transient("the connection was closed");
      return { messages, close };
    } catch (error) {
      close();
      return refuse(error);
    } finally {
      signal.removeEventListener("abort", close);
    }
  };
}
