import { orNotInstalled } from "../optional-package.ts";

export type RedisPackage = typeof import("@redis/client");

let loaded: RedisPackage | undefined;

/**
 * Loads the package that speaks to Redis over TCP. An application installs it only if it uses it.
 * @param feature what needs it, as {@link orNotInstalled} takes it
 * @throws {SluiceError} `not_installed`
 */
export async function loadRedisClient(feature = "Redis over TCP (resp(), REDIS_URL)"): Promise<RedisPackage> {
  return (loaded ??= await import("@redis/client").catch(orNotInstalled("@redis/client", feature)));
}

/** Whether Redis answered with this error. Without the package loaded, it cannot have. */
export function isErrorReply(error: unknown): error is Error {
  return loaded !== undefined && error instanceof loaded.ErrorReply;
}

/** A client that is not connected and does not reconnect. */
export function newClient({ createClient }: RedisPackage, url: string, connectTimeout: number) {
  return createClient({
    url,
    RESP: 2,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: "disabled",
    // The client would set a timer for each command until it is written; the tries have their own.
    commandOptions: { timeout: 0 },
    socket: { reconnectStrategy: false, connectTimeout },
  });
}

export type Client = ReturnType<typeof newClient>;
