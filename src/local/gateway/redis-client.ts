import { messageOf } from "../../errors.ts";
import { isErrorReply, type RedisPackage } from "../../transport/resp-client.ts";

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

export type RedisClient = ReturnType<typeof newClient>;

/** @param reconnect as `createClient` has it: in how many ms to try again, false for never */
export const newClient = (
  { createClient, RESP_TYPES }: RedisPackage,
  url: string,
  reconnect: (retries: number, cause: Error) => number | Error | false,
) =>
  createClient({
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
    socket: { reconnectStrategy: reconnect },
  });

/** @throws {RedisUnavailable} when Redis does not answer */
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
 * Redis's own error, as a reply.
 * @throws {RedisUnavailable} for any other
 */
export function errorReply(error: unknown): Error {
  if (isErrorReply(error) && !error.message.startsWith("LOADING ")) return error;
  throw new RedisUnavailable(messageOf(error));
}
