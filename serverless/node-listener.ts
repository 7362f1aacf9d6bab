import { once } from "node:events";
import type { Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import type { Listener, Runtime } from "./process.ts";

/** From a connection's last answer to its end, once the server lets nobody in, ms. */
const LINGER = 50;

/** How long an answer may wait for a client that reads none of it, ms: then its connection ends, and what it holds is let go. */
const UNREAD = 30_000;

/**
 * How long a request's headers may take to come, ms, and how often Node looks whether any have taken longer: together they
 * are the most. By itself Node looks every 30 s.
 */
export const HEADER_BOUNDS = { headersTimeout: 59_000, connectionsCheckingInterval: 1_000 };

/** Listens by Node's own server. */
export async function listen(
  fetch: Parameters<Runtime["listen"]>[0],
  { port, hostname }: Parameters<Runtime["listen"]>[1],
  bounds = HEADER_BOUNDS,
  unread = UNREAD,
): Promise<Listener> {
  const server = createAdaptorServer({ fetch, serverOptions: bounds }) as HttpServer;
  // A time without a byte, which a handler may well take: only what waits to be read is none of its.
  server.prependListener("request", (_, response) => {
    response.setTimeout(unread, () => {
      if (response.writableLength > 0) response.destroy();
    });
  });
  server.listen(port, hostname);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.close();
      // Connections that are idle only from now on.
      const idle = setInterval(() => server.closeIdleConnections(), LINGER);
      await once(server, "close");
      clearInterval(idle);
    },
    drop: () => server.closeAllConnections(),
  };
}
