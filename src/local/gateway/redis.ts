import { createClient, ErrorReply, RESP_TYPES } from "@redis/client";

/** An argument as it goes to Redis. */
export type Argument = string | Buffer;

/**
 * A Redis reply: a bulk string is a Buffer, an integer or a status reply is a string (see
 * {@link isInteger}), an error reply is an Error whose message is Redis's text.
 */
export type RedisReply = Buffer | string | null | Error | readonly RedisReply[];

/** Redis cannot be reached, or the connection broke before it answered. */
export class RedisUnavailable extends Error {
  override readonly name = "RedisUnavailable";
}

/**
 * Integers stay text, so that those beyond 2^53 stay exact. No status reply of Redis looks like one.
 */
export const isInteger = (text: string): boolean => /^-?\d+$/.test(text);

/** One pipelining connection to Redis, which reconnects by itself. */
export interface RedisConnection {
  /**
   * Sends one command. Commands run in the order in which they were sent.
   * @throws {RedisUnavailable} at once while Redis is away; the command may or may not have run when
   *   the connection broke after it was sent
   */
  send(command: readonly Argument[]): Promise<RedisReply>;
  /**
   * Runs the commands between MULTI and EXEC.
   * @returns the reply of EXEC
   */
  transaction(commands: readonly (readonly Argument[])[]): Promise<RedisReply>;
  close(): void;
}

/**
 * Connects to Redis.
 * @throws {RedisUnavailable} when Redis does not answer
 */
export async function connectRedis(url: string, log: (line: string) => void): Promise<RedisConnection> {
  let connected = false;
  const client = createClient({
    url,
    RESP: 2,
    // So that commands fail at once while Redis is away, and none is sent again after a reconnect.
    disableOfflineQueue: true,
    disableClientInfo: true,
    commandOptions: {
      // No deadline before sending: it could take one command out of the middle of a transaction.
      timeout: 0,
      typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.NUMBER]: String },
    },
    socket: {
      reconnectStrategy: (retries, cause) => (connected ? Math.min(2 ** retries * 20, 500) : cause),
    },
  });
  let away = false;
  client.on("error", (error: Error) => {
    if (connected && !away) log(`Redis is away: ${error.message || error.name}`);
    away = true;
  });
  client.on("ready", () => {
    if (away) log("Redis is back");
    away = false;
  });
  try {
    await client.connect();
  } catch (error) {
    client.destroy();
    const reason = error instanceof Error && error.message !== "" ? error.message : String(error);
    throw new RedisUnavailable(`Redis does not answer: ${reason}`);
  }
  connected = true;

  const send = (command: readonly Argument[]): Promise<RedisReply> =>
    client.sendCommand<RedisReply>(command as Argument[]).catch((error) => {
      const isReply = error instanceof ErrorReply;
      if (isReply && !error.message.startsWith("LOADING ")) return error;
      throw new RedisUnavailable(error instanceof Error ? error.message : String(error));
    });

  return {
    send,
    async transaction(commands) {
      // Queued in one go, and dropped as one should the connection break: nothing of another request
      // comes between, so a transaction needs no connection of its own.
      const replies = await Promise.all([["MULTI"], ...commands, ["EXEC"]].map(send));
      return replies.at(-1) as RedisReply;
    },
    close: () => client.destroy(),
  };
}
