import type { ExecutionContext } from "hono";
import { routePath } from "hono/route";
import type { App, RequestContext } from "../services.ts";
import type { Operations } from "./operations.ts";

/**
 * Adds the routes of operators to an app that loads them: at the first request to them, a second app takes over.
 * @param newApp makes an app with these routes and all others
 */
export function loadOperations(
  app: App,
  load: () => Promise<Operations>,
  newApp: (operations: Operations) => App,
): void {
  // A value, not a promise: a Worker must not wait for work that another request started.
  let complete: App | undefined;
  const answer = async (c: RequestContext) => {
    complete ??= newApp(await load());
    return complete.fetch(requestBelow(c), c.env, contextOf(c));
  };
  for (const path of ["/v1/*", "/metrics"]) app.all(path, answer);
}

/** The request, with its path below the one where the app is mounted. */
function requestBelow(c: RequestContext): Request {
  const [base = ""] = routePath(c).split(/\/(?:v1\/\*|metrics)$/);
  if (base === "") return c.req.raw;
  const url = new URL(c.req.url);
  url.pathname = url.pathname.slice(base.length);
  return new Request(url, c.req.raw);
}

function contextOf(c: RequestContext): ExecutionContext | undefined {
  try {
    return c.executionCtx;
  } catch {
    // Hono throws if there is none.
    return undefined;
  }
}
