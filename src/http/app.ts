import { Hono } from "hono/tiny";
import type { MiddlewareHandler } from "hono";
import { invalidArgument, SluiceError } from "../errors.ts";
import type { DeadLetter } from "../queue/core/dead-letter.ts";
import { milliseconds, type Duration } from "../queue/core/duration.ts";
import { optionalFunction } from "../queue/core/validation.ts";
import { checkedTracing, type Tracing } from "../queue/core/tracing.ts";
import type { Coalesce } from "../queue/redis/coalescer.ts";
import { type Transport, withPrefix } from "../queue/redis/transport.ts";
import type { QueueDefinition } from "../queue/tasks/definition.ts";
import { Queue } from "../queue/tasks/queue.ts";
import type { Waker } from "../queue/tasks/waker.ts";
import { checkedOffload, type Offload } from "../queue/values/offload.ts";
import { respond } from "../respond.ts";
import { Authenticator, forbidden } from "./auth/authenticator.ts";
import type { Scope, TokenEntry } from "./auth/tokens.ts";
import { type Dashboard, mountDashboard } from "./dashboard/mount.ts";
import { problems } from "./problems/codes.ts";
import { logError, type LoggedError } from "./problems/error-log.ts";
import { Problem, problemOf, problemResponse } from "./problems/problem.ts";
import { allowHeader, methodNotAllowed, methodsOf, requireReadablePath, routeOf } from "./request/methods.ts";
import { aboutRoutes } from "./routes/about.ts";
import { declarationRoutes } from "./routes/declaration.ts";
import { diagnosticsRoutes } from "./routes/diagnostics.ts";
import { groupRoutes } from "./routes/groups.ts";
import { metricsRoutes } from "./routes/metrics.ts";
import { overviewRoutes } from "./routes/overview.ts";
import { partitionRoutes } from "./routes/partitions.ts";
import { queueRoutes } from "./routes/queues.ts";
import { scheduleRoutes } from "./routes/schedules.ts";
import { sweepRoutes } from "./routes/sweep.ts";
import { taskOperationRoutes } from "./routes/task-operation.ts";
import { taskRoutes } from "./routes/tasks.ts";
import { watchRoutes } from "./routes/watch.ts";
import { workerRoutes } from "./routes/workers.ts";
import { type App, propsOf, type Services, type Variables, waitUntilOf } from "./services.ts";

export interface AppOptions {
  /** The transport to Redis. */
  readonly transport: Transport;
  /**
   * The bearer tokens and what each allows. If empty, all routes except the public ones respond
   * `auth_not_configured`; the sweep still accepts the `cronSecret`.
   */
  readonly tokens: readonly TokenEntry[];
  /**
   * The bearer token of the platform's cron. It allows only the sweep, of every queue. Give several to rotate
   * the secret: all of them are valid.
   * @default none
   */
  readonly cronSecret?: string | readonly string[] | undefined;
  /** The prefix of every key. @default that of the transport, or "sluice" */
  readonly prefix?: string | undefined;
  /**
   * Wakes consumers after an enqueue or a sweep; after the response if the platform supports `waitUntil`.
   * @default none
   */
  readonly wake?: Waker | undefined;
  /**
   * Which requests for a single task share one request to Redis. `"in-flight"`: those that arrive while
   * another is in flight. Use it only on servers whose requests may share I/O, so not in Workers.
   * @default none
   */
  readonly coalesce?: Coalesce | undefined;
  readonly limits?:
    | {
        /** The largest body of a request, in bytes. @default 10_000_000 */
        readonly body?: number | undefined;
        /** How long a body may take to arrive. The platform may have a shorter limit. @default "30s" */
        readonly bodyTime?: Duration | undefined;
        /** How long a sweep, purge or redrive may take if the request does not say. @default "20s" */
        readonly budget?: Duration | undefined;
      }
    | undefined;
  /** Called for each error of this server or of Redis. @default logs one line of JSON to the console */
  readonly onError?: ((error: LoggedError) => void) | undefined;
  /**
   * Called once with each task that a request makes a dead letter or finds as one: a settle, a pull, a failed
   * worker, a sweep. A repeated settle calls it again. The response does not wait for it; keep it running
   * with `waitUntil`, which is undefined if the platform has none. If it fails, one line is written to the
   * console.
   * @default none
   */
  readonly onDeadLetter?:
    | ((letter: DeadLetter, waitUntil: ((promise: Promise<unknown>) => void) | undefined) => unknown)
    | undefined;
  /**
   * Called before each sweep that a request asks for; the sweep waits for it. Deployments apply their declared
   * queues here, because on some platforms cron is such a request.
   * @default none
   */
  readonly beforeSweep?: ((props: unknown) => Promise<void>) | undefined;
  /**
   * Called after each sweep that a request asks for. The response does not wait for it if the platform supports
   * `waitUntil`. Deployments evaluate their alert rules here. It must not throw.
   * @default none
   */
  readonly afterSweep?: ((props: unknown) => Promise<void>) | undefined;
  /**
   * The transport and the waker of a request, by the `props` of its execution context. Deployments whose platform
   * limits the requests of an invocation count them so. The two hooks of a sweep get the `props` too.
   * @default `transport` and `wake`
   */
  readonly ofRequest?:
    | ((props: unknown) => { readonly transport: Transport; readonly wake: Waker | undefined })
    | undefined;
  /**
   * Returns the declaration of a queue by its name, if it has one. Requests use all of its options except
   * `schema`, `encryption` and `maxBytes`: callers check and encrypt payloads themselves.
   * @default no queue is declared
   */
  readonly definitionOf?: ((queue: string) => QueueDefinition | undefined) | undefined;
  /**
   * Keeps large payloads in an object store: `offload()` of `sluice-queue/offload`, or a function that returns it by
   * the name of the queue. Requests and replies have whole payloads. With a function, a requested sweep leaves the
   * store as it is.
   * @default payloads are in Redis, and have at most 1 MiB
   */
  readonly offload?: Offload | ((queue: string) => Offload | undefined) | undefined;
  /**
   * Traces requests that enqueue tasks: `openTelemetry()` of `sluice-queue/opentelemetry`. The trace is that of
   * the request's `traceparent` header. Callers trace what they dequeue and settle themselves.
   * @default no traces
   */
  readonly tracing?: Tracing | undefined;
  /**
   * The dashboard of `sluice-queue/dashboard`, to serve at `/dashboard`; or a function that loads it, at the first
   * request to it.
   * @default none
   * @example dashboard: async () => (await import("sluice-queue/dashboard")).dashboard
   */
  readonly dashboard?: Dashboard | (() => Promise<Dashboard>) | undefined;
}

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
  const { transport, tokens, cronSecret, wake, coalesce, limits, onError = logError } = options;
  const { prefix } = withPrefix(transport, options);
  const onDeadLetter = optionalFunction(options.onDeadLetter, "onDeadLetter");
  const beforeSweep = optionalFunction(options.beforeSweep, "beforeSweep");
  const afterSweep = optionalFunction(options.afterSweep, "afterSweep");
  const definitionOf = optionalFunction(options.definitionOf, "definitionOf");
  const tracing = checkedTracing(options.tracing);
  const { dashboard, offload } = options;
  const offloadOf = typeof offload === "function" ? offload : () => offload;
  if (dashboard !== undefined && typeof dashboard !== "function" && typeof dashboard?.answer !== "function") {
    throw invalidArgument(
      "dashboard",
      "must be the dashboard of sluice-queue/dashboard, or a function that loads it",
    );
  }
  const authenticator = new Authenticator(tokens, cronSecret);
  const app: App = new Hono<Variables>();

  const { ofRequest } = options;
  const wakerOf: Services["wakerOf"] = (c) => {
    const own = ofRequest ? ofRequest(propsOf(c)).wake : wake;
    return own && { ...own, waitUntil: waitUntilOf(c) ?? own.waitUntil };
  };
  const transportOf: Services["transportOf"] = (c) =>
    ofRequest ? ofRequest(propsOf(c)).transport : transport;

  const deadLetterHookOf: Services["deadLetterHookOf"] = (c) =>
    onDeadLetter && ((letter) => onDeadLetter(letter, waitUntilOf(c)));

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
        const { schema: _, maxBytes: __, ...declared } = definitionOf?.(name)?.options ?? {};
        // Values that callers have encrypted stay as they are: only the callers have the keys.
        const own = { encryption: null, offload: offloadOf(name) };
        const definition: QueueDefinition = { name, options: { ...declared, ...own } };
        c.set("definition", definition);
        const traced = scopes.includes("enqueue") && tracing?.continuing(c.req.raw.headers);
        const shared = {
          transport: transportOf(c),
          prefix,
          coalesce,
          wake: wakerOf(c),
          onDeadLetter: deadLetterHookOf(c),
        };
        c.set("queue", new Queue(definition, { ...shared, tracing: traced || undefined }));
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
    wakerOf,
    transportOf,
    deadLetterHookOf,
    beforeSweep,
    afterSweep,

    sweptStore: typeof offload === "function" ? undefined : checkedOffload(offload),
    bodyBounds,
    budget,
  };
  taskRoutes(app, services);
  watchRoutes(app, services);
  taskOperationRoutes(app, services);
  metricsRoutes(app, services);
  overviewRoutes(app, services);
  queueRoutes(app, services);
  groupRoutes(app, services);
  partitionRoutes(app, services);
  workerRoutes(app, services);
  scheduleRoutes(app, services);
  declarationRoutes(app, services);
  sweepRoutes(app, services);
  diagnosticsRoutes(app, services);
  aboutRoutes(app, services);

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
