// The entry of each platform in serverless/, called in this process as its platform calls it.

import * as bun from "../../serverless/bun.ts";
import { operations } from "../../src/http/operations/index.ts";
import * as cloudflare from "../../serverless/cloudflare.ts";
import * as deno from "../../serverless/deno.ts";
import { PendingWork } from "../../src/deploy/pending-work.ts";
import type { ServiceOptions } from "../../serverless/cloudflare.ts";
import * as lambda from "../../serverless/lambda.ts";
import * as netlify from "../../serverless/netlify.ts";
import { listen } from "../../src/deploy/process/node-listener.ts";
import * as next from "../../serverless/next.ts";
import * as node from "../../serverless/node.ts";
import * as vercel from "../../serverless/vercel.ts";
import type { Environment } from "../../src/environment.ts";
import { contextOf, invoke } from "../support/lambda.ts";
import { inRequest } from "../support/next-server.ts";

/** A running deployment. */
export interface Deployed {
  readonly fetch: (request: Request) => Promise<Response>;
  /** Runs cron. A function has then also ended all work that its invocations go on with. */
  readonly cron: () => Promise<unknown>;
  readonly stop: () => Promise<unknown>;
}

/** Deploys options with an environment, which has a `CRON_SECRET`. */
type Deploy = (options: ServiceOptions, env: Environment) => Promise<Deployed>;

const ORIGIN = "https://deployment.test";

/** Cron as a request. @throws if it fails */
async function sweep({ fetch }: Pick<Deployed, "fetch">, env: Environment): Promise<void> {
  const headers = { authorization: `Bearer ${String(env["CRON_SECRET"])}` };
  const response = await fetch(new Request(`${ORIGIN}/v1/sweep`, { headers }));
  if (response.status !== 200) throw new Error(`cron: ${response.status} ${await response.text()}`);
}

/** A request with the origin of the server's own address, if it has one. */
function fromPageOf(address: string, request: Request): Request {
  if (request.headers.has("origin")) request.headers.set("origin", address);
  return request;
}

/** A function that reads the variables of its process, which it does at its first request. */
async function inEnvironment(deployed: Deployed, env: Environment): Promise<Deployed> {
  const before = { ...process.env };
  Object.assign(process.env, env);
  try {
    await deployed.fetch(new Request(`${ORIGIN}/health`));
  } finally {
    for (const name of Object.keys(env)) delete process.env[name];
    Object.assign(process.env, before);
  }
  return deployed;
}

/** A function whose work may go on after its response. Cron begins after that of earlier invocations. */
function goingOn(work: PendingWork, { fetch, cron }: Pick<Deployed, "fetch" | "cron">): Deployed {
  return {
    fetch,
    async cron() {
      await work.settled();
      await cron();
      await work.settled();
    },
    stop: () => work.settled(),
  };
}

/** How long an invocation of Lambda may take, ms. */
const INVOCATION = 60_000;

/** What servers of all runtimes are started with. */
const server = (options: ServiceOptions, env: Environment): node.ServeOptions => ({
  ...options,
  env,
  port: 0,
  every: "1h",
  signals: false,
});

/** Sets the global of another runtime while a server is started with its entry. */
async function inRuntime<T>(name: "Bun" | "Deno", runtime: object, run: () => Promise<T>): Promise<T> {
  const globals = globalThis as Record<string, unknown>;
  globals[name] = runtime;
  try {
    return await run();
  } finally {
    delete globals[name];
  }
}

type Handle = Deployed["fetch"];

/** The tools of an application's own routes: what the deployment returned by name, and what parts add to its tools. */
const withTools = <Named extends object>(tools: object, named: Named) => ({
  ...named,
  waitUntil: undefined,
  get endpoints(): unknown {
    return Reflect.get(tools, "endpoints");
  },
});

export const platforms = {
  cloudflare: async (options, env) => {
    const app = cloudflare.sluice({ operations, ...options });
    const work = new PendingWork();
    return goingOn(work, {
      fetch: (request) => app.fetch(request, env, { waitUntil: work.add }),
      cron: () => app.scheduled({}, env),
    });
  },
  vercel: async (options, env) => {
    const { POST } = vercel.sluice(options);
    const work = new PendingWork();
    const fetch: Handle = (request) => POST(request, { waitUntil: work.add });
    return inEnvironment(goingOn(work, { fetch, cron: () => sweep({ fetch }, env) }), env);
  },
  next: async ({ fetch: ownRoute, ...options }, env) => {
    const { handlers, tools, ...named } = next.sluice(options);
    const work = new PendingWork();
    const catchAll: Handle = (request) => {
      const url = new URL(request.url);
      const params = Promise.resolve({ path: url.pathname.split("/").slice(1) });
      url.pathname = `/api/queue${url.pathname}`;
      return handlers.POST(new Request(url, request), { params });
    };
    // The application's own routes use the queues themselves.
    const fetch: Handle = (request) =>
      inRequest(work.add, async () => {
        const own = await ownRoute?.(request, withTools(tools, { ...named, env }));
        return own ?? catchAll(request);
      });
    return inEnvironment(goingOn(work, { fetch, cron: () => sweep({ fetch }, env) }), env);
  },
  lambda: async (options, env) => {
    const handler = lambda.sluice(options);
    const scheduled = { "detail-type": "Scheduled Event" };
    const work = new PendingWork();
    const deployed = goingOn(work, {
      fetch: (request) => invoke(handler, fromPageOf("https://function.test", request), INVOCATION),
      cron: () => handler(scheduled, contextOf(INVOCATION)),
    });
    // A function cannot go on after its response: it wakes another invocation, by its address.
    const address = await listen(
      (request) => {
        const response = deployed.fetch(request);
        work.add(response);
        return response;
      },
      { port: 0, hostname: "127.0.0.1" },
    );
    await inEnvironment(deployed, {
      ...env,
      SLUICE_WAKE_URL: `http://127.0.0.1:${address.port}/wake`,
      SLUICE_WAKE_SECRET: `whsec_${Buffer.alloc(24, 1).toString("base64")}`,
    });
    return { ...deployed, stop: () => deployed.stop().then(() => address.stop()) };
  },
  netlify: async (options, env) => {
    const app = netlify.sluice(options);
    const work = new PendingWork();
    const fetch: Handle = (request) => app.fetch(request, { waitUntil: work.add });
    return inEnvironment(goingOn(work, { fetch, cron: app.cron }), env);
  },
  node: async (options, env) => {
    const { url, close } = await node.serve(server(options, env));
    const send: Handle = async (request) => {
      const { pathname, search } = new URL(request.url);
      const { method, headers } = fromPageOf(url, request);
      const body = request.body && (await request.text());
      return fetch(new URL(pathname + search, url), { method, headers, body });
    };
    return { fetch: send, cron: () => sweep({ fetch: send }, env), stop: close };
  },
  mounted: async ({ fetch: ownRoute, ...options }, env) => {
    const deployed = await node.startDeployment({ ...options, env, every: "1h" });
    const { queue, schedules, topic, tools } = deployed;
    // The application's own routes use the queues themselves.
    const fetch: Handle = async (request) => {
      const own = await ownRoute?.(request, withTools(tools, { queue, schedules, topic, env }));
      return own ?? deployed.fetch(request);
    };
    return { fetch, cron: () => sweep({ fetch }, env), stop: () => deployed.close() };
  },
  deno: async (options, env) => {
    let fetch: Handle | undefined;
    const Deno = {
      serve(_: object, handle: Handle) {
        fetch = handle;
        return { addr: { port: 1 }, shutdown: async () => {} };
      },
      // The next minute begins at once.
      cron: (_name: string, _every: string, _options: object, work: () => Promise<void>) => work(),
    };
    // Deno's own cron replaces the interval.
    const serving = { ...server(options, env), every: undefined };
    const { close } = await inRuntime("Deno", Deno, () => deno.serve(serving));
    return { fetch: fetch!, cron: () => sweep({ fetch: fetch! }, env), stop: close };
  },
  bun: async (options, env) => {
    let fetch: Handle | undefined;
    const Bun = {
      serve(given: { readonly fetch: Handle }) {
        fetch = given.fetch;
        return { port: 1, stop: async () => {} };
      },
    };
    const { close } = await inRuntime("Bun", Bun, () => bun.serve(server(options, env)));
    return { fetch: fetch!, cron: () => sweep({ fetch: fetch! }, env), stop: close };
  },
} satisfies Record<string, Deploy>;
