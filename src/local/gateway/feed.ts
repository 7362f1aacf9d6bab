import { Readable } from "node:stream";
import type { Argument, RedisClient } from "./redis-client.ts";

/**
 * Messages that Redis pushes, as server-sent events: first one chunk with the confirmations, then one chunk
 * per event. The feed ends when the connection to Redis ends. Destroying the feed closes its connection.
 */
export type Feed = Readable;

/**
 * The most bytes that wait for a slow client. With more, its stream is closed, as Redis closes a slow
 * subscriber.
 */
const maxBehind = 1024 * 1024;

/** Creates a feed that owns the client. It has no events yet. */
export function feedOf(client: RedisClient): Feed {
  const feed = new Readable({
    read() {},
    destroy(error, done) {
      // Later, because the client may still be decoding a message.
      process.nextTick(() => client.destroy());
      done(error);
    },
  });
  client.on("error", () => feed.push(null));
  return feed;
}

/**
 * Sends SUBSCRIBE, PSUBSCRIBE or MONITOR. Resolves when Redis has confirmed it.
 * @throws {ErrorReply} if Redis refuses it
 */
export async function startFeed(
  feed: Feed,
  client: RedisClient,
  command: readonly Argument[],
): Promise<void> {
  const [name, ...words] = command.map(String) as [string, ...string[]];
  const kind = name.toLowerCase();
  const push = (event: string) => pushEvent(feed, event);
  // The confirmation is pushed before Redis sends it, because no one reads the feed until then. So an event
  // in the same packet as Redis's confirmation comes after it.
  if (kind === "monitor") {
    push('"OK"');
    return await client.monitor(push);
  }
  const names = new Set<string>();
  feed.push(words.map((word) => frame(`${kind},${word},${names.add(word).size}`)).join(""));
  const heads = (word: string) => (kind === "subscribe" ? ["message"] : ["pmessage", word]);
  const listener = (word: string) => (message: Buffer, channel: Buffer) =>
    push([...heads(word), channel, message].join(","));
  // Not client.pSubscribe(): with several patterns in one command it does not report which one matched.
  await client.extendPubSubListeners(
    kind === "subscribe" ? "CHANNELS" : "PATTERNS",
    new Map(
      [...names].map((word) => [
        word,
        { unsubscribing: false, buffers: new Set([listener(word)]), strings: new Set() },
      ]),
    ),
  );
}

/** Sends an event, or closes the feed if its client is too slow. */
export function pushEvent(feed: Feed, event: string): void {
  feed.push(frame(event));
  if (feed.readableLength > maxBehind) feed.destroy();
}

/** One server-sent event. All line ends become \n, the only one that it can have. */
export const frame = (text: string): string => {
  const lines = text.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `${lines.join("")}\n`;
};
