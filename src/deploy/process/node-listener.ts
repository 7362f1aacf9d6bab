import { once } from "node:events";
import type { Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { markLengthEnforced } from "../../bounded-body.ts";
import { orNotInstalled } from "../../optional-package.ts";
import type { ClosableServer } from "./node-types.ts";
import type { Listener, Runtime } from "./types.ts";
import { UnusedConnections } from "./unused-connections.ts";

/** While the server stops: the interval at which it closes idle and unused connections, ms. */
const IDLE_CHECK = 50;

/** How long a client may leave its response unread, ms. Then its connection is closed. */
const UNREAD = 30_000;

/**
 * How long the headers of a request may take, and how often Node checks this, ms. In practice, headers may
 * take as long as both together. Node's default interval is 30 s.
 */
export const HEADER_BOUNDS = { headersTimeout: 59_000, connectionsCheckingInterval: 1_000 };

/**
 * Loads the adapter of Node's HTTP server. Applications install it only if they serve from Node.
 * @param feature what needs it
 * @throws {SluiceError} `not_installed`
 */
export const loadNodeServer = (feature: string) =>
  import("@hono/node-server").catch(orNotInstalled("@hono/node-server", feature));

/**
 * Listens with Node's HTTP server.
 * @param unread how long a client may leave its response unread, ms
 * @throws {SluiceError} `not_installed` if `@hono/node-server` is not installed
 */
export async function listen(
  fetch: Parameters<Runtime["listen"]>[0],
  { port, hostname }: Parameters<Runtime["listen"]>[1],
  bounds = HEADER_BOUNDS,
  unread = UNREAD,
): Promise<Listener> {
  const { createAdaptorServer } = await loadNodeServer("serve() on Node");
  const server = createAdaptorServer({
    fetch(request) {
      markLengthEnforced(request);
      return fetch(request);
    },
    serverOptions: bounds,
  }) as HttpServer;
  // The timeout also fires while a handler works. Only unsent bytes show that the client does not read.
  server.setTimeout(unread, (socket) => {
    if (socket.writableLength > 0) socket.destroy();
  });
  server.listen(port, hostname);
  await once(server, "listening");
  const unused = new UnusedConnections();
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => stopServer(server, unused),
    drop: () => server.closeAllConnections(),
  };
}

/**
 * Accepts no more connections. Resolves when all open requests have their responses.
 * @param unused ends with the server
 */
export async function stopServer(server: ClosableServer, unused: UnusedConnections): Promise<void> {
  const closed = new Promise<void>((resolve) => server.once("close", resolve));
  server.close();
  // Connections become idle one by one, when their responses end.
  const idle = setInterval(() => {
    server.closeIdleConnections?.();
    unused.close(server);
  }, IDLE_CHECK);
  await closed;
  clearInterval(idle);
  unused.end();
}
