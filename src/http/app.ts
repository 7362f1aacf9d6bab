import { Hono } from "hono/tiny";
import type { MiddlewareHandler } from "hono";
import { invalidArgument, SluiceError } from "../errors.ts";
import { linkedIfNeeded } from "../open/linked-part.ts";
import type { Waker } from "../features/waking/index.ts";
import { opening } from "../open/opening.ts";
import { sweepPartsWith } from "../open/swept-part.ts";
import { milliseconds } from "../kernel/options/duration.ts";
import { onlyOptions, optionalFunction } from "../kernel/options/validation.ts";
import { type Transport, withPrefix } from "../kernel/transport.ts";
import { checkedOffload } from "../features/offload/types.ts";
import { respond } from "../respond.ts";
import { APP_OPTIONS, type AppOptions } from "./app-options.ts";
import type { AppPart, AppRoutes } from "./app-part.ts";
import { Authenticator, type Authenticating, forbidden } from "./auth/authenticator.ts";
import type { Scope } from "./auth/tokens.ts";
import { mountDashboard } from "./dashboard/mount.ts";
import { optionsOfRequests } from "./options-of-requests.ts";
import { loadRoutes } from "./load-routes.ts";
import type { Operations } from "./operations/operations.ts";
import { schedulesOf } from "./operations/schedules-of.ts";
import { checkPart, isOff, type Part } from "./parts.ts";
import { problems } from "./problems/codes.ts";
import { requestFailed } from "../log/lines.ts";
import { logTo } from "../log/log-to.ts";
import { Problem, problemOf, problemResponse } from "./problems/problem.ts";
import { allowHeader, methodNotAllowed, methodsOf, requireReadablePath, routeOf } from "./request/methods.ts";
import { aboutRoutes } from "./routes/about.ts";
import { docsRoutes } from "./routes/docs.ts";
import { sweepRoutes } from "./routes/sweep.ts";
import { heartbeatRoutes } from "./routes/heartbeat.ts";
import { taskRoutes } from "./routes/tasks.ts";
import { watchRoutes } from "./routes/watch.ts";
import type { App, Services, Variables } from "./services.ts";

const OFF = isOff("has no routes for operators", "operations");

const NO_FLOWS = isOff("has no flows", "flows");

const ofFlows = /^\/v1\/(?:flows(?:\/|$)|queues\/[^/]+\/tasks\/[^/]+\/before$)/;

/** The parts that have options of their own, each with a method that it has, and the entry that has it. */
const PARTS: readonly (readonly [name: keyof AppOptions, method: string, entry?: string])[] = [
  ["dashboard", "answer"],
  ["operations", "mount"],
  ["docs", "page"],
  ["deepSweep", "sweep", "deep-sweep"],
  ["schedules", "sweepPart"],
  ["order", "linked"],
  ["debounce", "withDebounce"],
  ["flows", "linked"],
];

const NEITHER = "The server has neither SLUICE_TOKENS nor CRON_SECRET.";

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
  const { tokens, cronSecret, cronIsRequest, limits, logger, beforeSweep, afterSweep, ...others } = options;
  const log = logTo(logger);
  const { onError = (error) => log(requestFailed(error)), ...ofRequests } = others;
  const {
    dashboard,
    operations,
    docs,
    deepSweep,
    order,
    debounce,
    flows,
    parts = [],
    ...apart
  } = withPrefix(options.transport, ofRequests);
  for (const [name, method, entry] of PARTS) checkPart(options[name], name, method, entry);
  for (const [i, part] of parts.entries()) checkAppPart(part, i);
  const schedules = apart.schedules ?? schedulesOf({ operations, dashboard });
  const given = { ...apart, schedules };
  const link = (to: Transport, waker?: Waker) => linkedIfNeeded({ order, flows }, to, waker);
  const ofQueues = { ...given, transport: link(given.transport) };
  const { transport, prefix, offload, tracing } = ofQueues;
  optionalFunction(beforeSweep, "beforeSweep");
  optionalFunction(afterSweep, "afterSweep");
  const optionsOf = optionsOfRequests(ofQueues, log, link);
  const ofTokens = new Authenticator(tokens, cronSecret);
  const allowing =
    (authenticator: Authenticating) =>
    (...scopes: (Scope | "cron")[]): MiddlewareHandler<Variables> =>
    async (c, next) => {
      if (!scopes.some((scope) => authenticator.isConfiguredFor(scope)))
        throw new Problem("auth_not_configured");
      const grants = await authenticator.authenticate(c.req.header("authorization"), scopes);
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

  const bodyBounds = {
    limit: limits?.body ?? 10_000_000,
    within: milliseconds(limits?.bodyTime ?? "30s", "limits.bodyTime", { min: 1, max: 3_600_000 }),
  };
  const budget = milliseconds(limits?.budget ?? "20s", "limits.budget", { min: 1 });
  const sweptStore = typeof offload === "function" ? undefined : checkedOffload(offload);

  const appParts: readonly AppPart[] = flows ? [flows, ...parts] : parts;

  /** @param known routes that are loaded already */
  const newApp = (
    given: Part<Operations> | undefined,
    authenticator: Authenticating,
    known: ReadonlyMap<AppPart, AppRoutes> = new Map(),
  ): App => {
    const app: App = new Hono<Variables>();

    const reportedProblem: Services["reportedProblem"] = (error, c) => {
      const problem = problemOf(error, c.req.method);
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

    const services: Services = {
      transport,
      prefix,
      allow: allowing(authenticator),
      reportedProblem,
      tracing,
      optionsOf,
      beforeSweep,
      afterSweep,
      sweptStore,
      bodyBounds,
      budget,
      docs,
      hasDashboard: dashboard !== undefined,
      hasCronSecret: cronIsRequest ? ofTokens.hasCronSecret : undefined,
      deepSweep,
      schedules,
      hasOrder: order !== undefined,
      debounce,
      sweepParts: sweepPartsWith(schedules, appParts),
    };

    const mountParts = (areApart: boolean) => {
      for (const part of appParts.filter(({ isApart = false }) => isApart === areApart)) {
        const routes = known.get(part) ?? part.routes;
        if (typeof routes !== "function") routes.mount(app, services);
        else
          loadRoutes(app, part.paths, routes, (its) =>
            newApp(given, authenticator, new Map(known).set(part, its)),
          );
      }
    };

    // First, because it answers all of its paths itself, each with its own headers.
    if (dashboard) {
      const newAppFor = (callers: Authenticating) => newApp(given, callers);
      mountDashboard({ ...services, app, authenticator, newApp: newAppFor }, dashboard);
    }
    mountParts(true);

    app.use(async (c, next) => {
      const isPublic = publicPaths.includes(c.req.path);
      const needsToken = c.req.path.startsWith("/v1/") || c.req.path === "/metrics";
      if (needsToken && !authenticator.isConfiguredFor("cron"))
        throw new Problem("auth_not_configured", { detail: NEITHER });
      requireReadablePath(c.req.url);
      // The router ignores a trailing slash. Here each resource has exactly one URL.
      if (c.req.path.endsWith("/") && !isPublic) return c.notFound();
      return next();
    });

    taskRoutes(app, services);
    watchRoutes(app, services);
    heartbeatRoutes(app, services);
    sweepRoutes(app, services);
    aboutRoutes(app, services);
    docsRoutes(app, services);
    mountParts(false);
    if (typeof given === "function") {
      const newAppWith = (its: Operations) => newApp(its, authenticator, known);
      loadRoutes(app, ["/v1/*", "/metrics"], given, newAppWith);
    } else given?.mount(app, services);

    /** What turns on the routes of the path, if they are off. */
    const hintOf = (path: string): string | undefined => {
      if (ofFlows.test(path)) return flows ? undefined : NO_FLOWS;
      return given === undefined && /^\/(?:v1\/(?!topics)|metrics$)/.test(path) ? OFF : undefined;
    };

    app.notFound((c) => {
      const methods = methodsOf(app.routes, c.req.path);
      const hint = hintOf(c.req.path);
      if (methods.length === 0) throw new Problem("no_route", { detail: hint });
      if (c.req.method !== "OPTIONS") throw methodNotAllowed(methods, hint);
      // No CORS headers: browsers on other origins are refused.
      return respond(null, 204, { allow: allowHeader(methods) });
    });

    app.onError((error, c) => problemResponse(reportedProblem(error, c)));

    return app;
  };
  return newApp(operations ?? ofDashboard(dashboard), ofTokens);
}

/** @throws {SluiceError} `invalid_argument` */
function checkAppPart(part: unknown, i: number): void {
  const { paths, routes } = (part ?? {}) as Partial<AppPart>;
  if (Array.isArray(paths) && routes) return;
  throw invalidArgument(`parts[${i}]`, "must be a part, such as the topics of sluice-queue/topics");
}

/** The routes that the dashboard calls come with it. */
function ofDashboard(dashboard: AppOptions["dashboard"]): Part<Operations> | undefined {
  if (typeof dashboard !== "function") return dashboard?.operations;
  return async () => (await dashboard()).operations;
}
