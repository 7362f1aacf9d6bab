import type { Environment } from "../src/config.ts";
import {
  Deployment,
  overHttp,
  type Platform,
  type ServiceOptions,
  type WaitUntil,
} from "./deployment/service.ts";

export * from "./deployment/consumer.ts";
export type { Around, ServiceOptions } from "./deployment/service.ts";

export interface Context {
  readonly waitUntil?: WaitUntil;
}

const platform: Platform = {
  transport: overHttp,
  // Vercel ends a function after 300 s, in the Edge runtime too; what goes on after the response counts.
  // https://vercel.com/docs/functions/limitations
  budget: "4m",
  afterResponse: "bounded",
};

/** Where Vercel keeps what belongs to the request under way; `waitUntil` of @vercel/functions looks there. */
const REQUEST_CONTEXT = Symbol.for("@vercel/request-context");

/** The Edge runtime gives it to the handler, the Node runtime by the global. */
function waitUntilOf(given: Context | undefined): WaitUntil | undefined {
  const shared = globalThis as { [REQUEST_CONTEXT]?: { get?(): Context | undefined } };
  const context = given?.waitUntil ? given : shared[REQUEST_CONTEXT]?.get?.();
  return context?.waitUntil && ((promise) => context.waitUntil?.(promise));
}

/**
 * A Vercel Function that is the whole of a deployment: HTTP interface, cron, wakes and consumers. The same file serves in
 * the Node runtime and, with `export const config = { runtime: "edge" }`, in the Edge runtime. Vercel's cron is a GET of
 * `/v1/sweep` with `CRON_SECRET`: consumers of what it finds work after its answer, as they do after a request that
 * enqueued.
 * @returns a handler for each method, to be exported by its name
 * @example
 * export const { GET, POST } = sluice({ consumers: { emails: send } });
 */
export function sluice<Env extends object = Environment>(options: ServiceOptions<Env> = {}) {
  const deployment = new Deployment(options, () => platform);
  const answer = (request: Request, context?: Context): Promise<Response> =>
    deployment.fetch(request, process.env as Environment as Env, waitUntilOf(context));
  return {
    GET: answer,
    HEAD: answer,
    OPTIONS: answer,
    POST: answer,
    PUT: answer,
    PATCH: answer,
    DELETE: answer,
  };
}

export const { GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE } = sluice();
