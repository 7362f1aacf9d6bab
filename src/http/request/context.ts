import type { Context, Hono, MiddlewareHandler } from "hono";
import type { BodyBounds } from "../../bounded-body.ts";
import { milliseconds, type Duration } from "../../queue/core/duration.ts";
import type { Queue } from "../../queue/tasks/queue.ts";
import type { Transport } from "../../queue/redis/transport.ts";
import type { RequestOptions } from "../../queue/core/types.ts";
import type { Waker } from "../../queue/tasks/waker.ts";
import type * as v from "valibot";
import type { Grants, Scope } from "../auth/authenticator.ts";
import { readJson } from "./body.ts";
import { invalid, type Problem } from "../problems/problem.ts";
import { longestBudget } from "../schemas/durations.ts";
import { fields, validate } from "./validate.ts";
import { KEY } from "../../queue/core/validation.ts";

export interface Variables {
  readonly Variables: {
    /** The queue that the path names. */
    queue: Queue;
    /** What the caller may do. */
    grants: Grants;
  };
}

export type App = Hono<Variables>;
export type Call = Context<Variables>;

/** What the routes share. */
export interface Services {
  readonly transport: Transport;
  readonly prefix: string | undefined;
  /** None: what is encrypted goes through as it is. */
  readonly encryption: null;
  /** How long a body may be, and take. */
  readonly bodyBounds: BodyBounds;
  /** How long a request goes on that does not say, ms. */
  readonly budget: number;
  /** Lets only callers with one of the scopes pass, for the queue that the path names if it names one. */
  readonly allow: (...scopes: (Scope | "cron")[]) => MiddlewareHandler<Variables>;
  /** What wakes consumers on behalf of this call, if anything does. */
  readonly wakerOf: (c: Context) => Waker | undefined;
  /** The problem that an error means. One that is not the caller's is reported, and can be found by its `instance`. */
  readonly faultOf: (error: unknown, c: Context) => Problem;
}

/** What lets work go on after the response, where the platform gave it to the app's `fetch`. */
export function waitUntilOf(c: Context): Waker["waitUntil"] {
  try {
    const context = c.executionCtx;
    return (promise) => context.waitUntil(promise);
  } catch {
    // Hono throws where there is none.
    return undefined;
  }
}

/**
 * How long a request may go on, ms.
 * @throws {SluiceError} invalid_argument
 */
export function budgetOf({ budget }: Services, wanted: Duration = budget): number {
  return milliseconds(wanted, "budget", { min: 1, max: longestBudget });
}

/** The body, checked. Where it may be left out, none is the same as `{}`. */
export async function readBody<Schema extends v.GenericSchema>(
  c: Call,
  { bodyBounds }: Services,
  schema: Schema | ((body: unknown) => Schema),
  optional?: "optional",
): Promise<v.InferOutput<Schema>> {
  const body = await readJson(c.req.raw, bodyBounds);
  if (body === undefined && optional === undefined) throw invalid("", "is missing");
  const chosen = typeof schema === "function" ? schema(body) : schema;
  return validate(chosen, body === undefined ? {} : body);
}

/**
 * The options that an `Idempotency-Key` header means.
 * @throws {Problem} invalid_request
 */
export function requestOptions(c: Call): RequestOptions {
  const key = c.req.header("idempotency-key");
  if (key === undefined) return {};
  if (KEY.test(key)) return { idempotencyKey: key };
  throw invalid("Idempotency-Key", "must be 1 to 255 visible ASCII characters");
}

const noQuery = fields({});

/**
 * The query, checked: only parameters that the schema names, each once.
 * @throws {Problem} invalid_request
 */
export function readQuery(c: Call): Record<string, never>;
export function readQuery<Query extends ReturnType<typeof fields>>(
  c: Call,
  schema: Query,
): v.InferOutput<Query>;
export function readQuery(c: Call, schema = noQuery): unknown {
  if (schema === noQuery && !c.req.url.includes("?")) return {};
  const query = new Map<string, string>();
  for (const [key, values] of Object.entries(c.req.queries())) {
    if (!Object.hasOwn(schema.entries, key)) throw invalid(key, "is not a known parameter");
    const [value, ...others] = values;
    if (others.length > 0) throw invalid(key, "may be given once");
    if (value !== undefined) query.set(key, value);
  }
  return validate(schema, Object.fromEntries(query));
}
