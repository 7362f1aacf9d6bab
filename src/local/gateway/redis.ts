import { isErrorReply, loadRedisClient, type RedisPackage } from "../../transports/resp-client.ts";
import { isOutOfService } from "../../transports/redis-refusal.ts";
import { type Feed, feedOf, startFeed } from "./feed.ts";
import {
  connect,
  errorReply,
  newClient,
  type Argument,
  type RedisClient,
  type RedisReply,
} from "./redis-client.ts";

/** One pipelining connection to Redis, which reconnects by itself, and the connections of the feeds. */
export interface RedisConnection {
  /**
   * Sends one command. Commands run in the order in which they were sent.
   * @throws {RedisUnavailable} at once while Redis is unreachable; if the connection breaks after the command
   *   was sent, the command may or may not have run
   */
  send(command: readonly Argument[]): Promise<RedisReply>;
  /**
   * Runs the commands between MULTI and EXEC.
   * @returns the reply of EXEC
   */
  transaction(commands: readonly (readonly Argument[])[]): Promise<RedisReply>;
  /**
   * Opens a connection of its own for SUBSCRIBE, PSUBSCRIBE or MONITOR. It does not reconnect.
   * @returns Redis's error if it refuses the command
   * @throws {RedisUnavailable} if Redis does not answer
   */
  feed(command: readonly Argument[]): Promise<Feed | Error>;
  /** Closes the connection and all feeds. */
  close(): void;
}

/** @throws {RedisUnavailable} if Redis does not answer */
async function reconnecting(
  redis: RedisPackage,
  url: string,
  log: (line: string) => void,
): Promise<RedisClient> {
  let connected = false;
  const client = newClient(redis, url, (retries, cause) =>
    connected ? Math.min(2 ** retries * 20, 500) : cause,
  );
  let isAway = false;
  client.on("error", (error: Error) => {
    if (connected && !isAway) log(`Redis is unreachable: ${error.message || error.name}`);
    isAway = true;
  });
  const answered = () => {
    if (isAway) log("Redis is reachable again");
    isAway = false;
  };
  client.on("ready", () => {
    // A connection alone proves nothing: the kernel may accept one for a server that is about to end.
    if (isAway) client.ping().then(answered, (error) => isErrorReply(error) && answered());
  });
  await connect(client);
  connected = true;
  return client;
}

/**
 * Connects to Redis.
 * @throws {RedisUnavailable} if Redis does not answer
 * @throws {SluiceError} `not_installed` if `@redis/client` is not installed
 */
export async function connectRedis(url: string, log: (line: string) => void): Promise<RedisConnection> {
  const redis = await loadRedisClient("The local gateway");
  let client = await reconnecting(redis, url, log);
  let isReplacing = false;
  let isClosed = false;
  /** Opens another connection, because the name may lead to another Redis now. The old one ends with its replies. */
  const replace = async () => {
    if (isReplacing) return;
    isReplacing = true;
    const old = client;
    client = await reconnecting(redis, url, log).catch(() => old);
    isReplacing = false;
    if (isClosed) client.destroy();
    if (client !== old) await old.close().catch(() => old.destroy());
  };

  const send = (command: readonly Argument[]): Promise<RedisReply> =>
    client.sendCommand<RedisReply>(command as Argument[]).catch((error: unknown) => {
      if (isErrorReply(error) && isOutOfService(error.message)) void replace();
      return errorReply(error);
    });
  const feeds = new Set<Feed>();

  return {
    send,
    async transaction(commands) {
      // Queued at once, and dropped as a whole if the connection breaks. No other request can come in
      // between, so a transaction needs no connection of its own.
      const replies = await Promise.all([["MULTI"], ...commands, ["EXEC"]].map(send));
      return replies.at(-1) as RedisReply;
    },
    async feed(command) {
      const own = newClient(redis, url, () => false);
      const feed = feedOf(own);
      feeds.add(feed);
      feed.once("close", () => feeds.delete(feed));
      try {
        await connect(own);
        await startFeed(feed, own, command);
        return feed;
      } catch (error) {
        feed.destroy();
        return errorReply(error);
      }
    },
    close() {
      isClosed = true;
      for (const feed of feeds) feed.destroy();
      client.destroy();
    },
  };
}
