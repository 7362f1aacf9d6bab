import { once } from "node:events";
import type { Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { lengthIsEnforced } from "../../src/bounded-body.ts";
import { orNotInstalled } from "../../src/optional-package.ts";
import type { Listener, Runtime } from "./process.ts";

/** While the server stops: how often idle connections are closed, ms. */
const LINGER = 50;

/** Longest time that a client may read nothing of a waiting answer, ms. Then its connection is closed. */
const UNREAD = 30_000;

/**
 * Longest time for a request's headers, and how often Node checks it, ms. In sum they are the longest a request can
 * take. Node's own interval is 30 s.
 */
export const HEADER_BOUNDS = { headersTimeout: 59_000, connectionsCheckingInterval: 1_000 };

/** Loads the adapter of Node's HTTP server. An application installs it only if it serves from Node. */
const loadNodeServer = () =>
  import("@hono/node-server").catch(orNotInstalled("@hono/node-server", "serve() on Node"));

/**
 * Listens with Node's HTTP server.
 * @param unread longest time that a client may read nothing of a waiting answer, ms
 * @throws {SluiceError} `not_installed` if `@hono/node-server` is not installed
 */
export async function listen(
  fetch: Parameters<Runtime["listen"]>[0],
  { port, hostname }: Parameters<Runtime["listen"]>[1],
  bounds = HEADER_BOUNDS,
  unread = UNREAD,
): Promise<Listener> {
  const { createAdaptorServer } = await loadNodeServer();
  const server = createAdaptorServer({
    fetch(request) {
      lengthIsEnforced(request);
      return fetch(request);
    },
    serverOptions: bounds,
  }) as HttpServer;
  // The timeout also fires while a handler works: only bytes that wait mean a client that does not read.
  server.setTimeout(unread, (socket) => {
    if (socket.writableLength > 0) socket.destroy();
  });
  server.listen(port, hostname);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.close();
      // Connections become idle one by one, as their answers end.
      const idle = setInterval(() => server.closeIdleConnections(), LINGER);
      await once(server, "close");
      clearInterval(idle);
    },
    drop: () => server.closeAllConnections(),
  };
}
