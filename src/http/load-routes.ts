import type { ExecutionContext } from "hono";
import { routePath } from "hono/route";
import type { App, RequestContext } from "./services.ts";

/**
 * Adds routes to an app that loads them: at the first request to them, a second app takes over.
 * @param paths of the routes, which may end with `*`
 * @param newApp makes an app with these routes and all others
 */
export function loadRoutes<Routes>(
  app: App,
  paths: readonly string[],
  load: () => Promise<Routes>,
  newApp: (routes: Routes) => App,
): void {
  // A value, not a promise: a Worker must not wait for work that another request started.
  let complete: App | undefined;
  for (const path of paths) {
    app.all(path, async (c) => {
      complete ??= newApp(await load());
      return complete.fetch(requestBelow(c, path), c.env, contextOf(c));
    });
  }
}

/** The request, with its path below the one where the app is mounted. */
function requestBelow(c: RequestContext, path: string): Request {
  const base = routePath(c).length - path.length;
  if (base === 0) return c.req.raw;
  const url = new URL(c.req.url);
  url.pathname = url.pathname.slice(base);
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
