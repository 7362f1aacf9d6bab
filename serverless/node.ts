import { once } from "node:events";
import type { Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import type { Environment } from "../src/config.ts";
import { type Runtime, type ServeOptions, type Server, start } from "./process.ts";

export * from "./consumer.ts";
export type { Around } from "./service.ts";
export type { ServeOptions, Server } from "./process.ts";

/** From a connection's last answer to its end, once the server lets nobody in, ms. */
const LINGER = 50;

const node: Runtime = {
  // `docker stop` kills after 10 s, as Cloud Run does; Kubernetes after 30 s.
  // https://docs.docker.com/reference/cli/docker/container/stop/
  grace: "7s",
  async listen(fetch, { port, hostname }) {
    const server = createAdaptorServer({ fetch }) as HttpServer;
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
  },
};

/**
 * Serves a deployment from Node: HTTP interface, wakes, consumers, and every minute what cron does. `REDIS_URL` may lead to
 * Redis too, over TCP.
 * @throws {SluiceError} `invalid_argument` for an option, or where the environment is not complete
 * @example
 * const { url } = await serve({ consumers: { emails: ({ payload }) => send(payload) } });
 */
export function serve<Env extends object = Environment>(options: ServeOptions<Env> = {}): Promise<Server> {
  return start(node, options);
}
