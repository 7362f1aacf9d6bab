import { Readable } from "node:stream";
import type { Argument, RedisClient } from "./redis-client.ts";

/**
 * What Redis sends of its own accord, as server-sent events: first one chunk with its confirmations,
 * then a chunk for each event. It ends when Redis goes away. Destroying it closes its connection.
 */
export type Feed = Readable;

/** Most bytes that wait for a slow client; then its stream is cut off, as Redis cuts off a slow subscriber. */
const maxBehind = 1024 * 1024;

/** A feed that owns the client and has nothing to tell yet. */
export function feedOf(client: RedisClient): Feed {
  const feed = new Readable({
    read() {},
    destroy(error, done) {
      // Later, as this may be within a message, which the client is still decoding.
      process.nextTick(() => client.destroy());
      done(error);
    },
  });
  client.on("error", () => feed.push(null));
  return feed;
}

/**
 * Sends SUBSCRIBE, PSUBSCRIBE or MONITOR, and resolves when Redis has confirmed it.
 * @throws {ErrorReply} when Redis refuses it
 */
export async function startFeed(
  feed: Feed,
  client: RedisClient,
  command: readonly Argument[],
): Promise<void> {
  const [name, ...words] = command.map(String) as [string, ...string[]];
  const kind = name.toLowerCase();
  const push = (event: string): void => {
    feed.push(frame(event));
    if (feed.readableLength > maxBehind) feed.destroy();
  };
  // Nobody reads before Redis has confirmed, so the confirmation may stand there already: an event
  // that comes with it in one packet then comes behind it.
  if (kind === "monitor") {
    push('"OK"');
    return await client.monitor(push);
  }
  const names = new Set<string>();
  feed.push(words.map((word) => frame(`${kind},${word},${names.add(word).size}`)).join(""));
  const heads = (word: string) => (kind === "subscribe" ? ["message"] : ["pmessage", word]);
  const listener = (word: string) => (message: Buffer, channel: Buffer) =>
    push([...heads(word), channel, message].join(","));
  // Not client.pSubscribe(): in one command for several patterns it does not say which has matched.
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

/** One server-sent event. It has no other line ends than \n, so those that are come out as such. */
const frame = (text: string): string => {
  const lines = text.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `${lines.join("")}\n`;
};
