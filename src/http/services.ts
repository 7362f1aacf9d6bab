import type { Context, Hono, MiddlewareHandler } from "hono";
import type { BodyBounds } from "../bounded-body.ts";
import type { OpeningOptions, OpenQueue } from "../open/opening.ts";
import type { Transport } from "../kernel/transport.ts";
import type { Waker } from "../features/waking/index.ts";
import type { Tracing } from "../features/tracing/types.ts";
import type { Offload } from "../features/offload/types.ts";
import type { SchedulesPart } from "../open/schedules/part.ts";
import type { DeepSweep } from "../open/deep-sweep/index.ts";
import type { DebouncePart } from "../features/debounce/index.ts";
import type { Grants } from "./auth/authenticator.ts";
import type { Scope } from "./auth/tokens.ts";
import type { Docs } from "./docs/docs.ts";
import type { SweepPart } from "../sweep/part.ts";
import type { Part } from "./parts.ts";
import type { Problem } from "./problems/problem.ts";

/** What the middleware sets for a route. */
export interface Variables {
  readonly Variables: {
    /** The queue that the path names. */
    open: OpenQueue;
    /** What the caller may do. */
    grants: Grants;
  };
}

export type App = Hono<Variables>;
export type RequestContext = Context<Variables>;

/** What all routes use. */
export interface Services {
  readonly transport: Transport;
  readonly prefix: string | undefined;
  readonly bodyBounds: BodyBounds;
  /** How long a sweep, purge or redrive may take if the request does not say, ms. */
  readonly budget: number;
  /**
   * Middleware that accepts only callers with one of the scopes, for the queue of the path if the path names
   * one.
   */
  readonly allow: (...scopes: (Scope | "cron")[]) => MiddlewareHandler<Variables>;
  /** Undefined if nothing is traced. */
  readonly tracing: Tracing | undefined;
  /** The options of all queues in this request. */
  readonly optionsOf: (c: RequestContext) => OpeningOptions;
  /** What a sweep removes orphans from. */
  readonly sweptStore: Offload | undefined;
  /** What to do before a sweep. */
  readonly beforeSweep: ((props: unknown) => Promise<void>) | undefined;
  /** What to do after a sweep. */
  readonly afterSweep: ((props: unknown) => Promise<void>) | undefined;
  /** Undefined if it is off. */
  readonly docs: Part<Docs> | undefined;
  readonly hasDashboard: boolean;
  /** Whether the platform's cron, which is a request, can call; undefined if it is none. */
  readonly hasCronSecret: boolean | undefined;
  /** Undefined if it is off. */
  readonly deepSweep: Part<DeepSweep> | undefined;
  /** Undefined if they are off. */
  readonly schedules: SchedulesPart | undefined;
  /** Whether queues in strict order can be declared. */
  readonly hasOrder: boolean;
  /** Undefined if it is off. */
  readonly debounce: DebouncePart | undefined;
  /** The parts of features in its sweeps. */
  readonly sweepParts: readonly SweepPart[];
  /** The problem for an error. An error that is not the caller's is logged, with the problem's `instance`. */
  readonly reportedProblem: (error: unknown, c: Context) => Problem;
}

/** The `props` of the request's execution context, if the app's `fetch` was passed one. */
export function propsOf(c: Context): unknown {
  try {
    return c.executionCtx.props;
  } catch {
    return undefined;
  }
}

/** The platform's `waitUntil`, if it passed one to the app's `fetch`. */
export function waitUntilOf(c: Context): Waker["waitUntil"] {
  try {
    const context = c.executionCtx;
    return (promise) => context.waitUntil(promise);
  } catch {
    // Hono throws if there is none.
    return undefined;
  }
}
