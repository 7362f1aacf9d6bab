import type { Environment } from "../src/config.ts";
import { withOptions } from "./deployment/options-of.ts";
import { Deployment, overHttp, type Platform, type ServiceOptions } from "./deployment/service.ts";

export * from "./deployment/consumer.ts";
export type { RequestTools, ServiceOptions } from "./deployment/service.ts";

export interface Context {
  waitUntil(promise: Promise<unknown>): void;
}

/** A service binding to the Worker with the consumers. */
interface Fetcher {
  fetch(request: Request): Promise<Response>;
}

function platform(env: { readonly SLUICE_CONSUMER?: Fetcher }): Platform {
  const { SLUICE_CONSUMER: consumer } = env;
  return {
    transport: overHttp,
    // Cloudflare lets work continue for 30 s after the response.
    budget: "25s",
    afterResponse: "bounded",
    wakeFetch: consumer && ((request) => consumer.fetch(request)),
  };
}

/**
 * Creates a Worker with a whole deployment: the HTTP interface, cron, wakes and consumers. Consumers work in
 * the invocation that enqueued, after its response, and in cron's. Bind `SLUICE_CONSUMER` to a Worker with
 * consumers, such as this one itself, to use as many more invocations as the work needs.
 * @example
 * export default sluice({ consumers: { emails: ({ payload }) => send(payload) } });
 */
export function sluice<Env extends object = Environment>(options: ServiceOptions<Env> = {}) {
  const deployment = new Deployment(options, platform);
  const app = {
    fetch: (request: Request, env: Env, context: Context): Promise<Response> =>
      deployment.fetch(request, env, (promise) => context.waitUntil(promise)),
    scheduled: (_event: unknown, env: Env): Promise<void> => deployment.service(env).cron(),
  };
  return withOptions(app, options);
}

export default sluice();
