import { createClient } from "@redis/client";

/**
 * A connection of a test's own to Redis, not connected yet. It has no time limits: one would also count the time for
 * which the machine gives this process none, and one for each command costs a timer, and an error when that ends.
 */
export const connectionTo = (url: string) =>
  createClient({ url, RESP: 2, commandOptions: { timeout: 0 }, socket: { connectTimeout: 0 } });
