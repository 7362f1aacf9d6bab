import type { Alerts } from "../features/alerts/index.ts";
import type { Config, Environment } from "../config.ts";
import type { DrainOptions, TaskFailure } from "../drain/types.ts";
import type { sharedOut } from "../drain/with-scale-out.ts";
import type { DeclaredQueue, QueueConsumer } from "./declared/define-queue.ts";
import type { DeploymentTools, WaitUntil } from "./declared/tools.ts";
import type { DeadLetter } from "../kernel/record/dead-letter.ts";
import type { Duration } from "../kernel/options/duration.ts";
import type { Tracing } from "../features/tracing/types.ts";
import type { Coalesce } from "../features/coalescing/index.ts";
import type { Transport } from "../kernel/transport.ts";
import type { Waker } from "../features/waking/index.ts";
import type { Offload } from "../features/offload/types.ts";
import type { Log, LoggerOption } from "../log/logger.ts";
import type { Alarms } from "./alarms.ts";
import type { Consumer } from "./consumer.ts";
import type { PartOptions, PartsOnDemand } from "./optional-parts.ts";
import type { InContext } from "./own-context.ts";

export interface ServiceOptions<Env = Environment> extends PartOptions {
  /** The consumers of declared queues, or an object of consumers by the name of the queue. @default none */
  readonly consumers?: readonly QueueConsumer<Env>[] | Readonly<Record<string, Consumer<Env>>> | undefined;
  /**
   * Declared queues that have no consumer here. Cron applies the settings and schedules of these and of those
   * with a consumer.
   * @default none
   */
  readonly queues?: readonly DeclaredQueue[] | undefined;
  /**
   * Handles requests to paths other than `/v1/…`, `/wake`, `/health`, `/metrics`, and those of the documentation and
   * the dashboard if these are on. If it returns nothing, `/` redirects to `/dashboard` or else to `/docs`, if one of
   * them is on, and other paths get 404.
   * @default returns nothing
   */
  readonly fetch?:
    | ((
        request: Request,
        tools: DeploymentTools<Env>,
      ) => Response | undefined | Promise<Response | undefined>)
    | undefined;
  /**
   * Called once with each dead letter that this deployment makes or finds, of any queue: by its consumers,
   * its sweeps, its `fetch`, and requests to its HTTP interface. It runs in the time of the invocation, with
   * `waitUntil` if the platform has it. If it fails, one line is logged. It is not called if Redis's reply is lost
   * after the script ran. It is called again if a consumer over HTTP sends its settlement again.
   * @default none; each dead letter is logged anyway
   * @example onDeadLetter: (letter, { queue }) => queue("graveyard").enqueue(letter)
   */
  readonly onDeadLetter?: ((letter: DeadLetter, tools: DeploymentTools<Env>) => unknown) | undefined;
  /**
   * Called once with each attempt that failed in a consumer of this deployment, was given up, or lost its lease; also
   * with the last one, which makes a dead letter. It runs as `onDeadLetter` does.
   * @default none; each failure is logged anyway
   * @example onFailure: ({ id, error }) => sentry.captureMessage(`${id}: ${error?.stack}`)
   */
  readonly onFailure?: ((failure: TaskFailure, tools: DeploymentTools<Env>) => unknown) | undefined;
  /**
   * Traces all that runs here: requests that enqueue tasks, the enqueues of `fetch` and of handlers, and the
   * consumers. `openTelemetry()` of `sluice-queue/opentelemetry` makes it.
   * @default no traces
   */
  readonly tracing?: Tracing | undefined;
  /**
   * Returns where large payloads go, for the environment: `offload()` of `sluice-queue/offload`. It serves all queues
   * that declare none of their own, and the HTTP interface. Sweeps of all queues remove objects that no task needs.
   * @default payloads are in Redis, and have at most 1 MiB
   * @example offload: (env) => offload({ store: r2(env.PAYLOADS) })
   */
  readonly offload?: ((env: Env) => Offload) | undefined;
  /**
   * When and where to send alerts: what `defineAlerts` of `sluice-queue/alerts` returns. The rules are evaluated
   * after each sweep of all queues, at most once a minute.
   * @default no alerts
   */
  readonly alerts?: Alerts<Env> | undefined;
  /**
   * Where log lines go: `console`, or a logger of pino, winston or bunyan; or the level from which on they go to the
   * console as JSON, `"silent"` for none. A logger that throws is replaced by the console for that line.
   * @default "info"
   * @example logger: pino()
   */
  readonly logger?: LoggerOption | undefined;
  /**
   * Wakes consumers that are not here, whichever queue they have, beside the deployment at `SLUICE_WAKE_URL`:
   * `pubSubWaker` wakes the servers that use the same Redis. It is called once.
   * @default none; in a server with `REDIS_URL` the waker of the servers beside it
   * @example wake: (transport) => pubSubWaker(transport)
   */
  readonly wake?: ((transport: Transport, env: Env) => Waker) | undefined;
  /** How long one invocation may work. @default the platform's limit, less some seconds */
  readonly budget?: Duration | undefined;
  /**
   * Most requests that one invocation may send, at least 30: those of this deployment, and those of handlers, as
   * many a task as the consumer's `requestsPerTask` says. In a server it is the limit of each drain.
   * @default 50 on Cloudflare, which is the limit of its free plan; elsewhere no limit
   */
  readonly requests?: number | undefined;
}

/** The names of {@link ServiceOptions}. */
export const SERVICE_OPTIONS = [
  "consumers",
  "queues",
  "dashboard",
  "operations",
  "docs",
  "deepSweep",
  "schedules",
  "order",
  "debounce",
  "flows",
  "topics",
  "endpoints",
  "qstash",
  "fetch",
  "onDeadLetter",
  "onFailure",
  "tracing",
  "offload",
  "alerts",
  "wake",
  "logger",
  "budget",
  "requests",
] as const satisfies readonly (keyof ServiceOptions)[];

/** What differs between platforms. */
export interface Platform {
  /**
   * Loads the dashboard, the documentation and the deep sweep.
   * @default none: the platform has all code in one file, so these must be given
   */
  readonly onDemand?: PartsOnDemand | undefined;
  /** Where log lines go if the option `logger` does not say. @default "info" */
  readonly logger?: LoggerOption | undefined;
  /** Makes the log of a deployment from one that writes each line. @default that one */
  readonly log?: ((log: Log) => Log) | undefined;
  /** Creates the transport to Redis. */
  readonly transport: (redis: Config["redis"]) => Transport;
  /** Whether the platform's cron is a request with `CRON_SECRET`. @default false */
  readonly cronIsRequest?: boolean | undefined;
  /** How long one invocation may work. */
  readonly budget: Duration;
  /** Most requests of one invocation, if the platform limits them. @default no limit */
  readonly requests?: number | undefined;
  /** How much work may continue after a response: none, some seconds, or, in a process, any. */
  readonly afterResponse: "none" | "bounded" | "any";
  /**
   * Which calls for a single task share one request to Redis.
   * @default those of one `Queue` in one turn of the event loop
   */
  readonly coalesce?: Coalesce | undefined;
  /**
   * In a process: makes a drain's source, which calls `wakeOthers` if it may leave tasks to other processes.
   * @default a drain asks for another consumer by a script, at most once a second
   */
  readonly sharing?: typeof sharedOut | undefined;
  /** In a process: wakes the processes beside it. @default none */
  readonly wake?: ((config: Config, transport: Transport) => Waker | undefined) | undefined;
  /** Sends a wake by another way than the global `fetch`, such as a service binding. */
  readonly wakeFetch?: ((request: Request) => Promise<Response>) | undefined;
  /**
   * How long a wake waits for its response. A consumer that has not responded by then counts as woken.
   * @default "2s"
   */
  readonly wakeTimeout?: Duration | undefined;
  /**
   * In a process: options of all drains. First `closing` aborts, and handlers may finish. Then `signal` aborts the
   * handlers. A consumer may have a `worker` of its own.
   */
  readonly drains?: Pick<DrainOptions, "closing" | "signal" | "worker"> | undefined;
  /**
   * Creates the alarms of a deployment whose keys have that prefix. A long-running process always has them.
   * @default none: cron finds what is due
   */
  readonly alarms?: ((prefix: string | undefined) => Alarms) | undefined;
  /** In tests: replaces object stores. @default none is replaced */
  readonly offload?: ((offload: Offload) => Offload) | undefined;
  /** How long an invocation waits for the next task, ms. @default 5 s */
  readonly maxIdle?: number | undefined;
  /**
   * In a process: keeps work running when the process closes. If it is set, the own methods of declared queues are
   * connected with this deployment, because the process can wait for what they start.
   */
  readonly waitUntil?: WaitUntil | undefined;
  /**
   * Whether consumers begin only after the response. An enqueue then leases no tasks for them, because their leases
   * would not be extended until then.
   * @default false
   */
  readonly beginsAfterResponse?: boolean | undefined;
  /** Runs consumers and hooks, which are asynchronous. @default at once, in the context in which the service is made */
  readonly inOwnContext?: InContext | undefined;
}
