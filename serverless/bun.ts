import { hostname } from "node:os";
import type { Environment } from "../src/config.ts";
import { start } from "../src/deploy/process/process.ts";
import type { Runtime, ServeOptions, Server } from "../src/deploy/process/types.ts";

export * from "../src/deploy/consumer.ts";
export type { DeploymentTools } from "../src/deploy/service.ts";
export type { ServeOptions, Server } from "../src/deploy/process/types.ts";

/** The part of the `Bun` global that is used here. */
declare const Bun: {
  serve(options: {
    readonly fetch: (request: Request) => Promise<Response>;
    readonly port: number;
    readonly hostname?: string | undefined;
    /** Seconds. */
    readonly idleTimeout: number;
  }): { readonly port: number; stop(drop?: boolean): Promise<void> };
};

const bun: Runtime = {
  // `docker stop` kills after 10 s.
  grace: "7s",
  host: hostname,
  async listen(fetch, { port, hostname }) {
    // Bun's longest: a waiting pull sends nothing for longer than the default of 10 s.
    // https://bun.com/docs/runtime/http/server#idletimeout
    const server = Bun.serve({ fetch, port, hostname, idleTimeout: 255 });
    return { port: server.port, stop: () => server.stop(), drop: () => server.stop(true) };
  },
};

/**
 * Serves a deployment on Bun: the HTTP interface, wakes, consumers, and cron every minute. For `REDIS_URL`, a
 * Redis over TCP, it needs the package `@redis/client`.
 * @throws {SluiceError} `invalid_argument` for an invalid option, or an incomplete or invalid environment;
 *   `not_installed` if the package is missing
 * @example
 * const { url } = await serve({ consumers: { emails: ({ payload }) => send(payload) } });
 */
export function serve<Env extends object = Environment>(options: ServeOptions<Env> = {}): Promise<Server> {
  return start(bun, options);
}
