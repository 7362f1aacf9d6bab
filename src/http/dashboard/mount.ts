import type { Authenticating } from "../auth/authenticator.ts";
import type { Operations } from "../operations/operations.ts";
import { loaded, type Part } from "../parts.ts";
import type { App, RequestContext, Services } from "../services.ts";
import type { Authorize } from "./authorize.ts";

/**
 * The dashboard, from `sluice-queue/dashboard`. What it needs is passed with each request, so one object serves
 * any number of apps.
 */
export interface Dashboard {
  /** The routes that the page calls. */
  readonly operations: Operations;
  /**
   * Lets the application decide who may see it.
   * @default the viewer signs in with a token
   * @example createApp({ transport, tokens, dashboard: { ...dashboard, authorize } })
   */
  readonly authorize?: Authorize | undefined;
  readonly answer: (c: RequestContext, server: DashboardServer) => Promise<Response>;
}

/** What the dashboard uses of its app. */
export interface DashboardServer extends Pick<Services, "bodyBounds" | "reportedProblem"> {
  readonly app: App;
  readonly authenticator: Authenticating;
  /** Makes an app with the same routes that knows its callers otherwise. */
  readonly newApp: (authenticator: Authenticating) => App;
}

/**
 * Mounts the dashboard at `/dashboard`.
 * @param given the dashboard, or a function that loads it, at the first request to it
 */
export function mountDashboard(server: DashboardServer, given: Part<Dashboard>): void {
  // A value, not a promise: a Worker must not wait for work that another request started.
  let dashboard: Dashboard | undefined;
  server.app.all("/dashboard/*", async (c) => {
    dashboard ??= await loaded(given);
    return dashboard.answer(c, server);
  });
}
