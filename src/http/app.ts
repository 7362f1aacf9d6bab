import { Hono } from "hono/tiny";
import type { MiddlewareHandler } from "hono";
import { SluiceError } from "../errors.ts";
import { opening } from "../open/opening.ts";
import { milliseconds } from "../kernel/options/duration.ts";
import { onlyOptions, optionalFunction } from "../kernel/options/validation.ts";
import { withPrefix } from "../kernel/transport.ts";
import { checkedOffload } from "../features/offload/types.ts";
import { respond } from "../respond.ts";
import { APP_OPTIONS, type AppOptions } from "./app-options.ts";
import { Authenticator, forbidden } from "./auth/authenticator.ts";
import type { Scope } from "./auth/tokens.ts";
import { mountDashboard } from "./dashboard/mount.ts";
import { optionsOfRequests } from "./options-of-requests.ts";
import { checkPart } from "./parts.ts";
import { problems } from "./problems/codes.ts";
import { requestFailed } from "../log/lines.ts";
import { logTo } from "../log/log-to.ts";
import { Problem, problemOf, problemResponse } from "./problems/problem.ts";
import { allowHeader, methodNotAllowed, methodsOf, requireReadablePath, routeOf } from "./request/methods.ts";
import { aboutRoutes } from "./routes/about.ts";
import { declarationRoutes } from "./routes/declaration.ts";
import { diagnosticsRoutes } from "./routes/diagnostics.ts";
import { docsRoutes } from "./routes/docs.ts";
import { groupRoutes } from "./routes/groups.ts";
import { healthRoutes } from "./routes/health.ts";
import { metricsRoutes } from "./routes/metrics.ts";
import { overviewRoutes } from "./routes/overview.ts";
import { partitionRoutes } from "./routes/partitions.ts";
import { queueRoutes } from "./routes/queues.ts";
import { scheduleRoutes } from "./routes/schedules.ts";
import { searchRoutes } from "./routes/search.ts";
import { sweepRoutes } from "./routes/sweep.ts";
import { taskOperationRoutes } from "./routes/task-operation.ts";
import { taskRoutes } from "./routes/tasks.ts";
import { watchRoutes } from "./routes/watch.ts";
import { workerRoutes } from "./routes/workers.ts";
import type { App, Services, Variables } from "./services.ts";

/** Paths that need no token. */
const publicPaths: readonly string[] = ["/", "/health", "/openapi.json", "/docs"];

/**
 * Creates the HTTP interface: a Hono app, whose `fetch` runs on every platform.
 * @throws {SluiceError} `invalid_argument` for an invalid token, cron secret or limit
 * @example
 * const app = createApp({ transport: upstash(env), tokens: [{ token, scopes: ["enqueue"], queues: "emails-*" }] });
 * export default { fetch: app.fetch };
 */
export function createApp(options: AppOptions): App {
  onlyOptions(options, APP_OPTIONS);
  const { tokens, cronSecret, limits, logger, beforeSweep, afterSweep, ...others } = options;
  const log = logTo(logger);
  const { onError = (error) => log(requestFailed(error)), ...ofRequests } = others;
  const { dashboard, docs, deepSweep, ...ofQueues } = withPrefix(options.transport, ofRequests);
  const { transport, prefix, offload, tracing } = ofQueues;
  optionalFunction(beforeSweep, "beforeSweep");
  optionalFunction(afterSweep, "afterSweep");
  checkPart(dashboard, "dashboard", "answer");
  checkPart(docs, "docs", "page");
  checkPart(deepSweep, "deepSweep", "sweep", "deep-sweep");
  const optionsOf = optionsOfRequests(ofQueues, log);
  const authenticator = new Authenticator(tokens, cronSecret);
  const app: App = new Hono<Variables>();

  const allow =
    (...scopes: (Scope | "cron")[]): MiddlewareHandler<Variables> =>
    async (c, next) => {
      if (!scopes.some((scope) => authenticator.isConfiguredFor(scope)))
        throw new Problem("auth_not_configured");
      const grants = await authenticator.authenticate(c.req.header("authorization"));
      const name = c.req.param("queue");
      const allowed = scopes.some((scope) =>
        name === undefined ? grants.has(scope) : grants.allows(scope, name),
      );
      if (name !== undefined) {
        const traced = scopes.includes("enqueue") && tracing?.continuing(c.req.raw.headers);
        c.set("open", opening({ ...optionsOf(c), tracing: traced || undefined })(name));
      }
      if (!allowed) throw forbidden(scopes, name);
      c.set("grants", grants);
      await next();
    };

  const reportedProblem: Services["reportedProblem"] = (error, c) => {
    const problem = problemOf(error);
    // A request aborts only if its caller disconnects, which is not an error.
    const aborted = error instanceof SluiceError && error.code === "aborted";
    if (problems[problem.code].status < 500 || problem === error || aborted) return problem;
    const instance = `urn:uuid:${crypto.randomUUID()}`;
    onError({
      instance,
      code: problem.code,
      method: c.req.method,
      route: routeOf(app.routes, c.req.path),
      error,
    });
    return new Problem(problem.code, { ...problem.details, instance });
  };

  const bodyBounds = {
    limit: limits?.body ?? 10_000_000,
    within: milliseconds(limits?.bodyTime ?? "30s", "limits.bodyTime", { min: 1, max: 3_600_000 }),
  };
  // First, because it answers all of its paths itself, each with its own headers.
  if (dashboard)
    mountDashboard({ app, authenticator, bodyTime: bodyBounds.within, reportedProblem }, dashboard);

  app.use(async (c, next) => {
    const isPublic = publicPaths.includes(c.req.path);
    const needsToken = c.req.path.startsWith("/v1/") || c.req.path === "/metrics";
    if (needsToken && !authenticator.isConfiguredFor("cron")) throw new Problem("auth_not_configured");
    requireReadablePath(c.req.url);
    // The router ignores a trailing slash. Here each resource has exactly one URL.
    if (c.req.path.endsWith("/") && !isPublic) return c.notFound();
    return next();
  });

  const budget = milliseconds(limits?.budget ?? "20s", "limits.budget", { min: 1 });
  const services: Services = {
    transport,
    prefix,
    allow,
    reportedProblem,
    optionsOf,
    beforeSweep,
    afterSweep,
    sweptStore: typeof offload === "function" ? undefined : checkedOffload(offload),
    bodyBounds,
    budget,
    docs,
    hasDashboard: dashboard !== undefined,
    deepSweep,
  };
  taskRoutes(app, services);
  watchRoutes(app, services);
  taskOperationRoutes(app, services);
  metricsRoutes(app, services);
  overviewRoutes(app, services);
  healthRoutes(app, services);
  searchRoutes(app, services);
  queueRoutes(app, services);
  groupRoutes(app, services);
  partitionRoutes(app, services);
  workerRoutes(app, services);
  scheduleRoutes(app, services);
  declarationRoutes(app, services);
  sweepRoutes(app, services);
  diagnosticsRoutes(app, services);
  aboutRoutes(app, services);
  docsRoutes(app, services);

  app.notFound((c) => {
    const methods = methodsOf(app.routes, c.req.path);
    if (methods.length === 0) throw new Problem("no_route");
    if (c.req.method !== "OPTIONS") throw methodNotAllowed(methods);
    // No CORS headers: browsers on other origins are refused.
    return respond(null, 204, { allow: allowHeader(methods) });
  });

  app.onError((error, c) => problemResponse(reportedProblem(error, c)));

  return app;
}
