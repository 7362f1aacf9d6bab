import process from "node:process";
import type { Environment } from "../src/config.ts";
import { start } from "../src/deploy/process/process.ts";
import type { Runtime, ServeOptions, Server } from "../src/deploy/process/types.ts";

export * from "../src/deploy/consumer.ts";
export type { DeploymentTools } from "../src/deploy/service.ts";
export type { ServeOptions, Server } from "../src/deploy/process/types.ts";

/** The part of the `Deno` global that is used here. */
declare const Deno: {
  serve(
    options: { readonly port: number; readonly hostname: string; readonly onListen: () => void },
    handler: (request: Request) => Promise<Response>,
  ): { readonly addr: { readonly port: number }; shutdown(): Promise<void> };
  /** Available on Deno Deploy, and elsewhere with --unstable-cron. */
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
  cron: Deno.cron && ((work, signal) => Deno.cron?.("sluice", "* * * * *", { signal }, work)),
  // Deno Deploy runs the module once to find its cron jobs, possibly without its environment.
  // https://docs.deno.com/deploy/reference/cron/#organizing-cron-declarations
  startsUnconfigured: process.env["DENO_DEPLOY"] !== undefined,
});

/**
 * Serves a deployment on Deno and Deno Deploy: the HTTP interface, wakes, consumers, and cron every minute,
 * by `Deno.cron` if it is available. Call it at the top of the main module. For `REDIS_URL`, a Redis over
 * TCP, it needs the package `@redis/client`.
 * @throws {SluiceError} `invalid_argument` for an invalid option, or an incomplete or invalid environment. On
 *   Deno Deploy the server starts, and its responses name the variable. `not_installed` if the package is
 *   missing
 * @example
 * const { url } = await serve({ consumers: { emails: ({ payload }) => send(payload) } });
 */
export function serve<Env extends object = Environment>(options: ServeOptions<Env> = {}): Promise<Server> {
  return start(runtime(), options);
}
