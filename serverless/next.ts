import { after } from "next/server.js";
import type { Environment } from "../src/config.ts";
import { belowCatchAll, everyMethod, type RouteContext, type RouteHandler } from "../src/deploy/catch-all.ts";
import { withConnect } from "../src/deploy/connect-app.ts";
import { Deployment, overHttp } from "../src/deploy/deployment.ts";
import { onDemand } from "../src/deploy/on-demand.ts";
import { withOptions } from "../src/deploy/options-of.ts";
import { type InContext, ownContext } from "../src/deploy/own-context.ts";
import { PendingWork } from "../src/deploy/pending-work.ts";
import type { DeploymentTools, Platform, ServiceOptions } from "../src/deploy/service.ts";

export * from "../src/deploy/consumer.ts";
export type { RouteContext, RouteHandler } from "../src/deploy/catch-all.ts";
export type { OwnQueueOptions } from "../src/deploy/declared/tools.ts";
export type { AppWith } from "../src/deploy/options-of.ts";
export type { DeploymentTools, ServiceOptions } from "../src/deploy/service.ts";
export type { TopicOrName } from "../src/open/topics/definition.ts";
export type { Topic } from "../src/open/topics/topic.ts";

const platform: Platform = {
  transport: overHttp,
  onDemand,
  // Vercel ends a function after 300 s, and work after the response counts.
  // https://vercel.com/docs/functions/limitations
  budget: "4m",
  afterResponse: "bounded",
  cronIsRequest: true,
  beginsAfterResponse: true,
};

/** Calls `after` of Next.js, which throws outside of a request, such as in a script. */
function tryAfter(work: () => unknown): boolean {
  try {
    after(work);
    return true;
  } catch {
    return false;
  }
}

const isInRequest = () => tryAfter(() => {});
const isBuilding = () => process.env["NEXT_PHASE"] === "phase-production-build";

/**
 * Creates the whole deployment of an application with Next.js: the HTTP interface, cron, wakes and consumers in one
 * catch-all route, and the queues of server actions and other routes. Consumers work after the response, in the same
 * invocation. It reads the environment with the first request or call, so that `next build` needs none.
 * @returns `handlers`, whose methods a catch-all route exports, and `queue`, `schedules` and `topic`, for all code on
 *   the server; also as `tools`, with what parts add to them. Outside of a request, such as in a script, an enqueue starts no consumer: the next cron does. In a test,
 *   `testDeployment(handlers)` connects them with its database
 * @example
 * // lib/queue.ts
 * export const { handlers, queue } = sluice({ consumers: [emails.consumer(send)] });
 * // app/api/queue/[[...path]]/route.ts
 * export const { GET, POST, PUT, PATCH, DELETE } = handlers;
 * // A server action
 * await queue(emails).enqueue({ to: "a@example.com" });
 */
export function sluice<Env extends object = Environment>(options: ServiceOptions<Env> = {}) {
  const inOwnContext = afterResponse(contextOfConsumers());
  const deployment = new Deployment(options, { ...platform, inOwnContext });
  const env = () => process.env as Environment as Env;
  const handle: RouteHandler<RouteContext> = async (request: Request, context?: RouteContext) => {
    const work = new PendingWork();
    const waitUntil = tryAfter(() => work.settled()) ? work.add : undefined;
    const params = (await context?.params) ?? {};
    return belowCatchAll(request, params, (below) => deployment.fetch(below, env(), waitUntil));
  };
  const made = new Map<boolean, DeploymentTools<Env>>();
  let ofTest: DeploymentTools<Env> | undefined;
  /** The tools of calls in a request, or those of other calls. */
  const tools = (): DeploymentTools<Env> => {
    if (ofTest) return ofTest;
    const inRequest = !isBuilding() && isInRequest();
    const found = made.get(inRequest) ?? deployment.service(env()).tools(inRequest ? after : undefined);
    made.set(inRequest, found);
    return found;
  };
  const queue: DeploymentTools<Env>["queue"] = (...args) => atUse(tools, (now) => now.queue(...args));
  const schedules: DeploymentTools<Env>["schedules"] = (...args) =>
    atUse(tools, (now) => now.schedules(...args));
  const topic: DeploymentTools<Env>["topic"] = (...args) => atUse(tools, (now) => now.topic(...args));
  const asApp = <App extends object>(app: App) =>
    withConnect(withOptions(app, options), (given: DeploymentTools<Env>) => void (ofTest = given));
  const handlers = asApp(everyMethod(asApp(handle)));
  return asApp({ handlers, queue, schedules, topic, tools: atUse(tools, (now) => now) });
}

/**
 * The context of no request. If a request evaluates the module, such as one of a server action, there is none: kept,
 * its context would make `fetch` of Next.js belong to its page, which may be static. Then it is that of the caller.
 */
function contextOfConsumers(): InContext {
  return isInRequest() ? (run) => run() : ownContext();
}

/** Begins asynchronous work after the response of the request; at once outside of one. */
function afterResponse(inContext: InContext): InContext {
  const responded = () => new Promise<void>((resolve) => void (tryAfter(resolve) || resolve()));
  return (<R>(run: () => Promise<R>) => responded().then(() => inContext(run))) as InContext;
}

/**
 * An object that is made when it is used, so that a module may keep it although `next build` evaluates the module.
 * @param tools returns those of the call
 * @param make makes it with these tools
 */
function atUse<Tools extends object, T extends object>(tools: () => Tools, make: (tools: Tools) => T): T {
  const made = new WeakMap<Tools, T>();
  return new Proxy({} as T, {
    get(_, name) {
      const now = tools();
      const used = made.get(now) ?? make(now);
      made.set(now, used);
      const value: unknown = Reflect.get(used, name, used);
      return typeof value === "function" ? (value.bind(used) as unknown) : value;
    },
  });
}
