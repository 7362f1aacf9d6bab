import type { Environment } from "../src/config.ts";
import { Deployment, overHttp } from "../src/deploy/deployment.ts";
import { onDemand } from "../src/deploy/on-demand.ts";
import type { Platform, ServiceOptions, WaitUntil } from "../src/deploy/service.ts";
import { withOptions } from "../src/deploy/options-of.ts";

export * from "../src/deploy/consumer.ts";
export type { AppWith } from "../src/deploy/options-of.ts";
export type { DeploymentTools, ServiceOptions } from "../src/deploy/service.ts";

export interface Context {
  readonly waitUntil: WaitUntil;
}

const platform: Platform = {
  transport: overHttp,
  onDemand,
  // Netlify ends a scheduled function after 30 s, others after 60 s.
  // https://docs.netlify.com/build/functions/configuration
  budget: "25s",
  afterResponse: "bounded",
};

/**
 * Creates the Netlify Functions of a whole deployment: the HTTP interface, cron, wakes and consumers. Cron is
 * a function of its own, because a scheduled function on Netlify has no path.
 * @example
 * export const app = sluice({ consumers: { emails: send } });
 * export default app.fetch;
 * export const config = { path: "/*" };
 * // In another file:
 * export default app.cron;
 * export const config = { schedule: "* * * * *" };
 */
export function sluice<Env extends object = Environment>(options: ServiceOptions<Env> = {}) {
  const deployment = new Deployment(options, platform);
  const env = () => process.env as Environment as Env;
  const app = {
    fetch: (request: Request, context: Context): Promise<Response> =>
      deployment.fetch(request, env(), (promise) => context.waitUntil(promise)),
    cron: (): Promise<void> => deployment.service(env()).cron(),
  };
  return withOptions(app, options);
}
