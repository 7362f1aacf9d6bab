import { Hono } from "hono/tiny";
import type { MiddlewareHandler } from "hono";
import { SluiceError } from "../errors.ts";
import type { Coalesce } from "../queue/redis/coalescer.ts";
import { Queue } from "../queue/tasks/queue.ts";
import type { Transport } from "../queue/redis/transport.ts";
import { milliseconds, type Duration } from "../queue/core/duration.ts";
import type { Waker } from "../queue/tasks/waker.ts";
import { respond } from "./responses/respond.ts";
import { forbidden, Authenticator, type Scope, type TokenEntry } from "./auth/authenticator.ts";
import { type App, type Services, type Variables, waitUntilOf } from "./request/context.ts";
import { allowHeader, methodNotAllowed, methodsOf, requireReadablePath, routeOf } from "./request/methods.ts";
import { Problem, problemOf, problemResponse, problems } from "./problems/problem.ts";
import { type Fault, reportToConsole } from "./problems/error-log.ts";
import { aboutRoutes } from "./routes/about.ts";
import { queueRoutes } from "./routes/queues.ts";
import { scheduleRoutes } from "./routes/schedules.ts";
import { sweepRoutes } from "./routes/sweep.ts";
import { taskOperationRoutes } from "./routes/task-operation.ts";
import { taskRoutes } from "./routes/tasks.ts";
import { watchRoutes } from "./routes/watch.ts";
import { workerRoutes } from "./routes/workers.ts";

export interface AppOptions {
  /** How Redis is reached. */
  readonly transport: Transport;
  /** Who may do what. With none the app answers `auth_not_configured` and does nothing. */
  readonly tokens: readonly TokenEntry[];
  /** Lets the platform's cron sweep every queue, as its bearer token, and nothing else; several while it is being changed. */
  readonly cronSecret?: string | readonly string[] | undefined;
  /** What every key begins with. @default "sluice" */
  readonly prefix?: string | undefined;
  /** Wakes consumers of what is enqueued or found by a sweep; after the response, where the platform can. */
  readonly wake?: Waker | undefined;
  /**
   * Which requests for one task each share a request to Redis. `"in-flight"`: those that come while another is under
   * way, for a server whose requests may share I/O, so not in Workers. @default none do
   */
  readonly coalesce?: Coalesce | undefined;
  readonly limits?:
    | {
        /** Longest body of a request, in bytes. @default 10_000_000 */
        readonly body?: number | undefined;
        /** How long a body may take to come. A platform's own limit may be shorter. @default "30s" */
        readonly bodyTime?: Duration | undefined;
        /** How long a sweep, or another long call, goes on that does not say. @default "20s" */
        readonly budget?: Duration | undefined;
      }
    | undefined;
  /** Told of every fault of this server or of Redis. @default one line of JSON on the console */
  readonly report?: ((fault: Fault) => void) | undefined;
}

/** Open to everybody, whatever is configured. */
const openPaths: readonly string[] = ["/", "/health", "/openapi.json", "/docs"];

/**
 * The HTTP interface: a Hono app, and as such a `fetch` for every platform.
 * @throws {SluiceError} invalid_argument for tokens of another form
 */
export function createApp(options: AppOptions): App {
  const { transport, tokens, cronSecret, prefix, wake, coalesce, limits, report = reportToConsole } = options;
  // What callers have encrypted is bytes here, which only they can read.
  const encryption = null;
  const gate = new Authenticator(tokens, cronSecret);
  const app: App = new Hono<Variables>();

  const wakerOf: Services["wakerOf"] = (c) =>
    wake && { ...wake, waitUntil: waitUntilOf(c) ?? wake.waitUntil };

  const allow =
    (...scopes: (Scope | "cron")[]): MiddlewareHandler<Variables> =>
    async (c, next) => {
      if (!scopes.some((scope) => gate.opensFor(scope))) throw new Problem("auth_not_configured");
      const grants = await gate.admit(c.req.header("authorization"));
      const name = c.req.param("queue");
      if (name !== undefined) {
        c.set("queue", new Queue(name, { transport, prefix, encryption, wake: wakerOf(c), coalesce }));
      }
      const allowed = scopes.some((scope) =>
        name === undefined ? grants.has(scope) : grants.allows(scope, name),
      );
      if (!allowed) throw forbidden(scopes, name);
      c.set("grants", grants);
      await next();
    };

  app.use(async (c, next) => {
    const open = openPaths.includes(c.req.path);
    if (!open && !gate.opensFor("cron")) throw new Problem("auth_not_configured");
    requireReadablePath(c.req.url);
    // The router takes a closing slash for nothing; here each thing has one address.
    if (c.req.path.endsWith("/") && !open) return c.notFound();
    return next();
  });

  const faultOf: Services["faultOf"] = (error, c) => {
    const problem = problemOf(error);
    // Only a caller who has gone aborts: nobody is told, and nothing is at fault.
    const aborted = error instanceof SluiceError && error.code === "aborted";
    if (problems[problem.code].status < 500 || problem === error || aborted) return problem;
    const instance = `urn:uuid:${crypto.randomUUID()}`;
    report({
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
  const budget = milliseconds(limits?.budget ?? "20s", "limits.budget", { min: 1 });
  const services: Services = { transport, prefix, encryption, allow, faultOf, wakerOf, bodyBounds, budget };
  taskRoutes(app, services);
  watchRoutes(app, services);
  taskOperationRoutes(app, services);
  queueRoutes(app, services);
  workerRoutes(app, services);
  scheduleRoutes(app, services);
  sweepRoutes(app, services);
  aboutRoutes(app, services);

  app.notFound((c) => {
    const methods = methodsOf(app.routes, c.req.path);
    if (methods.length === 0) throw new Problem("no_route");
    if (c.req.method !== "OPTIONS") throw methodNotAllowed(methods);
    // No CORS headers: a browser on another origin is not let in.
    return respond(null, 204, { allow: allowHeader(methods) });
  });

  app.onError((error, c) => problemResponse(faultOf(error, c)));

  return app;
}
