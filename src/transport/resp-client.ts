import { createClient } from "@redis/client";

/** A client that is not connected and does not reconnect. */
export function newClient(url: string, connectTimeout: number) {
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
