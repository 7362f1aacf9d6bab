import process from "node:process";
import type { Environment } from "../src/config.ts";
import { type Runtime, type ServeOptions, type Server, start } from "./process/process.ts";

export * from "./deployment/consumer.ts";
export type { Around } from "./deployment/service.ts";
export type { ServeOptions, Server } from "./process/process.ts";

/** What is used here of Deno's own global. */
declare const Deno: {
  serve(
    options: { readonly port: number; readonly hostname: string; readonly onListen: () => void },
    handler: (request: Request) => Promise<Response>,
  ): { readonly addr: { readonly port: number }; shutdown(): Promise<void> };
  /** On Deno Deploy; elsewhere with --unstable-cron. */
  readonly cron?: (
    name: string,
    schedule: string,
    options: { readonly signal: AbortSignal },
    handler: () => Promise<void>,
  ) => Promise<void>;
};

const runtime = (): Runtime => ({
  // Deno Deploy sends SIGINT and kills after 5 s. https://docs.deno.com/deploy/reference/runtime/#shutdown
  grace: "2s",
  async listen(fetch, { port, hostname = "0.0.0.0" }) {
    const server = Deno.serve({ port, hostname, onListen: () => {} }, fetch);
    return { port: server.addr.port, stop: () => server.shutdown() };
  },
  cron:
    Deno.cron &&
    ((work, signal) => {
      Deno.cron?.("sluice", "* * * * *", { signal }, work).catch((error: unknown) => console.error(error));
    }),
  // Deno Deploy runs the module once to find its cron, where the environment may not be the one it runs in.
  // https://docs.deno.com/deploy/reference/cron/#organizing-cron-declarations
  patient: process.env["DENO_DEPLOY"] !== undefined,
});

/**
 * Serves a deployment from Deno and Deno Deploy: HTTP interface, wakes, consumers, and every minute, by `Deno.cron` where
 * there is one, what cron does. To be called at the top of the main module. `REDIS_URL` may lead to Redis too, over TCP;
 * that needs the package `@redis/client`.
 * @throws {SluiceError} `invalid_argument` for an option, or where the environment is not complete; on Deno Deploy requests
 *   are then answered with what is missing. `not_installed` if the package is missing
 * @example
 * const { url } = await serve({ consumers: { emails: ({ payload }) => send(payload) } });
 */
export function serve<Env extends object = Environment>(options: ServeOptions<Env> = {}): Promise<Server> {
  return start(runtime(), options);
}
