import { Readable } from "node:stream";
import { toBuffer, toText } from "../../embedded/bytes.ts";
import type { EmbeddedDatabase } from "../../embedded/database.ts";
import { MissingArray, NoReply, ReplyError, Status, type Value } from "../../embedded/reply.ts";
import { type Feed, frame, pushEvent } from "./feed.ts";
import type { RedisConnection } from "./redis.ts";
import type { RedisReply } from "./redis-client.ts";

/** A connection to a database in this process. It never breaks. */
export function connectEmbedded(database: EmbeddedDatabase): RedisConnection {
  const connection = database.connect({ push: () => {}, close: () => {} });
  const feeds = new Set<Feed>();
  return {
    async send(command) {
      return toReply(connection.run(command));
    },
    async transaction(commands) {
      // No other request runs in between, because this does not wait.
      const replies = [["MULTI"], ...commands, ["EXEC"]].map((command) => toReply(connection.run(command)));
      return replies.at(-1) as RedisReply;
    },
    async feed(command) {
      let confirmations: string[] | undefined = [];
      const push = (value: Value) => {
        const event = eventOf(value);
        if (confirmations) confirmations.push(frame(event));
        else pushEvent(feed, event);
      };
      const own = database.connect({ push, close: () => feed.push(null) });
      const feed: Feed = new Readable({
        read() {},
        destroy(error, done) {
          own.close();
          done(error);
        },
      });
      const reply = own.run(command);
      if (reply instanceof ReplyError) {
        feed.destroy();
        return reply;
      }
      if (reply instanceof Status) confirmations.push(frame(`"${reply.text}"`));
      feed.push(confirmations.join(""));
      confirmations = undefined;
      feeds.add(feed);
      feed.once("close", () => feeds.delete(feed));
      return feed;
    },
    close() {
      for (const feed of feeds) feed.destroy();
      connection.close();
    },
  };
}

/** What an event stream shows of a message: its parts; of a line of MONITOR: the line. */
function eventOf(value: Value): string {
  if (value instanceof Status) return toText(value.text);
  return (value as readonly Value[])
    .map((part) => (typeof part === "string" ? toText(part) : Number(part)))
    .join(",");
}

function toReply(value: Value): RedisReply {
  if (typeof value === "string") return toBuffer(value);
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  if (value === null || value instanceof MissingArray || value instanceof NoReply) return null;
  if (value instanceof Status) return toText(value.text);
  return value instanceof ReplyError ? value : value.map(toReply);
}
