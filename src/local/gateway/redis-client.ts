import { messageOf } from "../../errors.ts";
import { isErrorReply, type RedisPackage } from "../../transports/resp-client.ts";

/** An argument as it goes to Redis. */
export type Argument = string | Buffer;

/**
 * A Redis reply. A bulk string is a Buffer. An integer or a status reply is a string (see {@link isInteger}).
 * An error reply is an Error with Redis's text as its message.
 */
export type RedisReply = Buffer | string | null | Error | readonly RedisReply[];

/** Redis cannot be reached, or the connection broke before it answered. */
export class RedisUnavailable extends Error {
  override readonly name = "RedisUnavailable";
}

/**
 * Whether a string is an integer reply. Integers stay strings, so that those beyond 2^53 are exact. No status
 * reply of Redis has this form.
 */
export const isInteger = (text: string): boolean => /^-?\d+$/.test(text);

export type RedisClient = ReturnType<typeof newClient>;

/** @param reconnect as in `createClient`: after how many ms to reconnect, or false for never */
export const newClient = (
  { createClient, RESP_TYPES }: RedisPackage,
  url: string,
  reconnect: (retries: number, cause: Error) => number | Error | false,
) =>
  createClient({
    url,
    RESP: 2,
    // Commands fail at once while Redis is unreachable, and are not sent again after a reconnect.
    disableOfflineQueue: true,
    disableClientInfo: true,
    commandOptions: {
      // No deadline before sending, because it could remove one command from a transaction.
      timeout: 0,
      typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.NUMBER]: String },
    },
    socket: { reconnectStrategy: reconnect },
  });

/** @throws {RedisUnavailable} if Redis does not answer */
export async function connect(client: RedisClient): Promise<void> {
  try {
    await client.connect();
  } catch (error) {
    client.destroy();
    const reason = error instanceof Error && error.message !== "" ? error.message : String(error);
    throw new RedisUnavailable(`Redis does not answer: ${reason}`);
  }
}

/**
 * Returns an error of Redis as a reply.
 * @throws {RedisUnavailable} for any other error
 */
export function errorReply(error: unknown): Error {
  if (isErrorReply(error) && !error.message.startsWith("LOADING ")) return error;
  throw new RedisUnavailable(messageOf(error));
}
