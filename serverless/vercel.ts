import type { Environment } from "../src/config.ts";
import { everyMethod, type RouteContext, type RouteHandler } from "../src/deploy/catch-all.ts";
import { Deployment, overHttp } from "../src/deploy/deployment.ts";
import { withNextHint } from "../src/deploy/next-hint.ts";
import { onDemand } from "../src/deploy/on-demand.ts";
import type { Platform, ServiceOptions, WaitUntil } from "../src/deploy/service.ts";
import { type AppWith, withOptions } from "../src/deploy/options-of.ts";

export * from "../src/deploy/consumer.ts";
export type { RouteContext, RouteHandler } from "../src/deploy/catch-all.ts";
export type { AppWith } from "../src/deploy/options-of.ts";
export type { DeploymentTools, ServiceOptions } from "../src/deploy/service.ts";

export interface Context {
  readonly waitUntil?: WaitUntil;
}

const platform: Platform = {
  transport: overHttp,
  onDemand,
  // Vercel ends a function after 300 s, in the Edge runtime too. Work after the response counts.
  // https://vercel.com/docs/functions/limitations
  budget: "4m",
  afterResponse: "bounded",
  cronIsRequest: true,
};

/** The global in which Vercel stores the context of the current request, as @vercel/functions reads it. */
const REQUEST_CONTEXT = Symbol.for("@vercel/request-context");

/**
 * The `waitUntil` of a request. The Edge runtime passes it to the handler; the Node runtime sets the global.
 */
function waitUntilOf(given: Context | undefined): WaitUntil | undefined {
  const shared = globalThis as { [REQUEST_CONTEXT]?: { get?(): Context | undefined } };
  const context = given?.waitUntil ? given : shared[REQUEST_CONTEXT]?.get?.();
  return context?.waitUntil && ((promise) => context.waitUntil?.(promise));
}

/**
 * Creates a Vercel Function with a whole deployment: the HTTP interface, cron, wakes and consumers. It runs
 * in the Node runtime and, with `export const config = { runtime: "edge" }`, in the Edge runtime. Vercel's
 * cron is a GET of `/v1/sweep` with `CRON_SECRET`. Consumers work after the response of that request and of
 * each request that enqueued.
 * @returns a handler for each method; export it under that name
 * @example
 * export const { GET, POST } = sluice({ consumers: { emails: send } });
 */
export function sluice<Env extends object = Environment>(options: ServiceOptions<Env> = {}) {
  const deployment = new Deployment(options, platform);
  const handle: RouteHandler<Context> & AppWith<Env> = withOptions(
    async (request: Request, context?: Context & Partial<RouteContext>): Promise<Response> => {
      const env = process.env as Environment as Env;
      const response = await deployment.fetch(request, env, waitUntilOf(context));
      return context?.params ? withNextHint(response) : response;
    },
    options,
  );
  return withOptions(everyMethod(handle), options);
}

export const { GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE } = sluice();
