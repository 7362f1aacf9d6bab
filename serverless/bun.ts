import type { Environment } from "../src/config.ts";
import { type Runtime, type ServeOptions, type Server, start } from "./process/process.ts";

export * from "./deployment/consumer.ts";
export type { Around } from "./deployment/service.ts";
export type { ServeOptions, Server } from "./process/process.ts";

/** What is used here of Bun's own global. */
declare const Bun: {
  serve(options: {
    readonly fetch: (request: Request) => Promise<Response>;
    readonly port: number;
    readonly hostname?: string | undefined;
    /** s */
    readonly idleTimeout: number;
  }): { readonly port: number; stop(drop?: boolean): Promise<void> };
};

const bun: Runtime = {
  // As for Node: `docker stop` kills after 10 s.
  grace: "7s",
  async listen(fetch, { port, hostname }) {
    // The longest that there is: a pull that waits is silent for longer than the 10 s of the default.
    // https://bun.com/docs/runtime/http/server#idletimeout
    const server = Bun.serve({ fetch, port, hostname, idleTimeout: 255 });
    return { port: server.port, stop: () => server.stop(), drop: () => server.stop(true) };
  },
};

/**
 * Serves a deployment from Bun: HTTP interface, wakes, consumers, and every minute what cron does. `REDIS_URL` may lead to
 * Redis too, over TCP; that needs the package `@redis/client`.
 * @throws {SluiceError} `invalid_argument` for an option, or where the environment is not complete; `not_installed` if the
 *   package is missing
 * @example
 * const { url } = await serve({ consumers: { emails: ({ payload }) => send(payload) } });
 */
export function serve<Env extends object = Environment>(options: ServeOptions<Env> = {}): Promise<Server> {
  return start(bun, options);
}
