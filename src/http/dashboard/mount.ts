import type { Authenticator } from "../auth/authenticator.ts";
import type { Operations } from "../operations/operations.ts";
import { loaded, type Part } from "../parts.ts";
import type { Problem } from "../problems/problem.ts";
import type { App, RequestContext } from "../services.ts";

/**
 * The dashboard, from `sluice-queue/dashboard`. What it needs is passed with each request, so one object serves
 * any number of apps.
 */
export interface Dashboard {
  /** The routes that the page calls. */
  readonly operations: Operations;
  readonly answer: (c: RequestContext, server: DashboardServer) => Promise<Response>;
}

/** What the dashboard uses of its app. */
export interface DashboardServer {
  readonly app: App;
  readonly authenticator: Authenticator;
  /** How long the body of a request may take to arrive, ms. */
  readonly bodyTime: number;
  readonly reportedProblem: (error: unknown, c: RequestContext) => Problem;
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
