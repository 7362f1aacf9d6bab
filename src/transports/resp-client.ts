import { orNotInstalled } from "../optional-package.ts";

export type RedisPackage = typeof import("@redis/client");

let loaded: RedisPackage | undefined;

/**
 * Loads the package for Redis over TCP. An application installs it only if it uses it.
 * @param feature the feature that needs it, for the error text
 * @throws {SluiceError} `not_installed`
 */
export async function loadRedisClient(feature = "Redis over TCP (resp(), REDIS_URL)"): Promise<RedisPackage> {
  return (loaded ??= await import("@redis/client").catch(orNotInstalled("@redis/client", feature)));
}

/** Whether Redis replied with this error. False as long as the package is not loaded. */
export function isErrorReply(error: unknown): error is Error {
  return loaded !== undefined && error instanceof loaded.ErrorReply;
}

/** Makes a client that is not connected and does not reconnect. */
export function newClient({ createClient }: RedisPackage, url: string, connectTimeout: number) {
  return createClient({
    url,
    RESP: 2,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: "disabled",
    // Without this the client sets a timer for each command; tries have their own.
    commandOptions: { timeout: 0 },
    socket: { reconnectStrategy: false, connectTimeout },
  });
}

export type Client = ReturnType<typeof newClient>;
