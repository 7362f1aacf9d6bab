import type { Duration } from "../kernel/options/duration.ts";
import type { DeadLetter } from "../kernel/record/dead-letter.ts";
import type { Tracing } from "../features/tracing/types.ts";
import type { SchedulesPart } from "../open/schedules/part.ts";
import type { DeepSweep } from "../open/deep-sweep/index.ts";
import type { Order } from "../open/order/index.ts";
import type { DebouncePart } from "../features/debounce/index.ts";
import type { Coalesce } from "../features/coalescing/index.ts";
import type { Transport } from "../kernel/transport.ts";
import type { QueueDefinition } from "../open/definition.ts";
import type { Waker } from "../features/waking/index.ts";
import type { Offload } from "../features/offload/types.ts";
import type { TokenEntry } from "./auth/tokens.ts";
import type { Dashboard } from "./dashboard/mount.ts";
import type { Docs } from "./docs/docs.ts";
import type { FlowsPart } from "./flows/part.ts";
import type { Operations } from "./operations/operations.ts";
import type { AppPart } from "./app-part.ts";
import type { Part } from "./parts.ts";
import type { LoggedError } from "./problems/logged-error.ts";
import type { LoggerOption } from "../log/logger.ts";

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
  /**
   * Whether the platform's cron is a request with the `cronSecret`: findings then say whether it is set.
   * @default false
   */
  readonly cronIsRequest?: boolean | undefined;
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
  /**
   * Where log lines go: `console`, or a logger of pino, winston or bunyan; or the level from which on they go to the
   * console as JSON, `"silent"` for none.
   * @default "info"
   */
  readonly logger?: LoggerOption | undefined;
  /** Called for each error of this server or of Redis. @default logs one line */
  readonly onError?: ((error: LoggedError) => void) | undefined;
  /**
   * Called once with each task that a request makes a dead letter or finds as one: a settle, a pull, a failed
   * worker, a sweep. A repeated settle calls it again. The response does not wait for it; keep it running
   * with `waitUntil`, which is undefined if the platform has none. If it fails, one line is
   * logged.
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
  readonly dashboard?: Part<Dashboard> | undefined;
  /**
   * The routes for operators of `sluice-queue/operations`, which list, count, configure, redrive and purge, and those
   * of metrics; or a function that loads them, at the first request to them.
   * @default those that come with the dashboard; without it such requests are refused
   * @example operations: async () => (await import("sluice-queue/operations")).operations
   */
  readonly operations?: Part<Operations> | undefined;
  /**
   * The documentation of `sluice-queue/docs`, to serve at `/openapi.json` and `/docs`; or a function that loads it, at
   * the first request to it.
   * @default none
   * @example docs: async () => (await import("sluice-queue/docs")).docs
   */
  readonly docs?: Part<Docs> | undefined;
  /**
   * The deep sweep of `sluice-queue/deep-sweep`, for requests of a sweep with `deep: true`, and for the diagnostics of
   * queues; or a function that loads it.
   * @default none: such a request is refused, and diagnostics do not say whether a queue is valid
   */
  readonly deepSweep?: Part<DeepSweep> | undefined;
  /**
   * The schedules of `sluice-queue/schedules`.
   * @default those that come with `operations`, unless that is a function; without them, a sweep reports a queue whose
   *   schedules are due as failed
   */
  readonly schedules?: SchedulesPart | undefined;
  /**
   * The strict order of `sluice-queue/order`, for queues in strict order.
   * @default none: requests to such a queue are refused with `newer_schema`
   */
  readonly order?: Order | undefined;
  /**
   * The code of `sluice-queue/debounce`, for enqueues with `debounce`, `throttle`, `singleton` or `replace`.
   * @default none: such requests are refused
   */
  readonly debounce?: DebouncePart | undefined;
  /**
   * The flows of `sluice-queue/flows`: their routes, and their part of sweeps.
   * @default none: such requests are refused
   */
  readonly flows?: FlowsPart | undefined;
  /**
   * Further features, each from an entry of its own.
   * @default none
   * @example parts: [topics]
   */
  readonly parts?: readonly AppPart[] | undefined;
}

/** The names of {@link AppOptions}. */
export const APP_OPTIONS = [
  "transport",
  "tokens",
  "cronSecret",
  "cronIsRequest",
  "prefix",
  "wake",
  "coalesce",
  "limits",
  "logger",
  "onError",
  "onDeadLetter",
  "beforeSweep",
  "afterSweep",
  "ofRequest",
  "definitionOf",
  "offload",
  "tracing",
  "dashboard",
  "operations",
  "docs",
  "deepSweep",
  "schedules",
  "order",
  "debounce",
  "flows",
  "parts",
] as const satisfies readonly (keyof AppOptions)[];
