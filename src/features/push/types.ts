import type { Duration } from "../../kernel/options/duration.ts";
import type { LeasedTask } from "../../kernel/lease/leased-task.ts";

/** Which URLs requests may go to. */
export interface UrlPolicy {
  /**
   * The hosts that requests may go to: names, such as `api.example.com`, and `*.example.com` for all names below
   * one. Runtimes that do not show to which address a name leads, such as Workers, need it.
   * @default any host with public addresses
   */
  readonly allow?: readonly string[] | undefined;
  /**
   * Hosts that may have private addresses, such as `localhost` and `127.0.0.1`, for development and tests. The other
   * rules hold for them too.
   * @default none
   */
  readonly allowPrivate?: readonly string[] | undefined;
  /** The ports that requests may go to. @default 80, 443, and those from 1024 on */
  readonly ports?: readonly number[] | undefined;
  /**
   * How many redirects a request follows, up to 5. The URL of each is checked too. What would change the method, and
   * what leads from https to http, is not followed.
   * @default 0
   */
  readonly redirects?: number | undefined;
}

/** A request to another service. */
export interface OutgoingRequest {
  readonly url: string | URL;
  /** @default "POST" */
  readonly method?: string | undefined;
  /** Not those that concern the connection, such as `host` and `content-length`. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
  /** How long all may take: the name, the connection, redirects, and the headers of the response. @default "30s" */
  readonly timeout?: Duration | undefined;
  /**
   * Bytes of the response's body that are kept, up to 1 MiB. The body may then take as long as `timeout` says.
   * @default the first 4 KB, which may take 5 s
   */
  readonly maxBody?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The response of another service, whatever its status. */
export interface Delivered {
  readonly status: number;
  readonly headers: Headers;
  /** The first 4 KB of the body, or `maxBody` bytes, as text. */
  readonly body: string;
  /** The same as it came, for bodies that are no text. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether the body was longer, slower than 5 s, or broke off. */
  readonly truncated: boolean;
}

/** What {@link EndpointSource} gets of a task: all that a handler of `drain` gets. */
export type PushTask<T = unknown> = Pick<
  LeasedTask<T>,
  "id" | "receipt" | "payload" | "attempt" | "enqueuedAt" | "headers" | "group"
> & { readonly signal: AbortSignal };

/** What `push` uses of a queue of the deployment. */
export interface CallbackQueue {
  enqueue(payload: never, options: { readonly id: string }): Promise<unknown>;
  get(id: string): Promise<unknown>;
}

/** Of the tools that a deployment gives handlers, what `push` uses. */
export interface PushTools {
  readonly queue: (queue: never) => CallbackQueue;
}

/** Where a delivery takes place. */
export interface PushContext<T, Env, Tools = PushTools> {
  readonly task: PushTask<T>;
  /** The deployment's environment; undefined outside of a deployment. */
  readonly env: Env;
  /** The deployment's tools; undefined outside of a deployment. */
  readonly tools: Tools;
}

/** Where a delivery goes. */
export interface Endpoint {
  readonly url: string;
  /** What signs: each of up to 5, such as the old one and its successor. @default not signed */
  readonly secrets?: readonly string[] | undefined;
  /** Sent beside those of `push`, and before them. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** True, or why: its deliveries become dead letters without a request. @default false */
  readonly disabled?: boolean | string | undefined;
}

/** What a try to deliver has led to. */
export interface DeliveryOutcome {
  /** Whether the endpoint took the delivery: it answered 2xx. */
  readonly ok: boolean;
  /** The status of the response; undefined if there was none. */
  readonly status?: number | undefined;
  /** Why it failed, in one line; undefined if it did not. */
  readonly error?: string | undefined;
  /** Whether the endpoint asked to get nothing more: it answered 410, or with `webhook-delivery: disable`. */
  readonly gone: boolean;
  /** How long the endpoint asked to wait, ms; undefined if it did not. */
  readonly retryAfter?: number | undefined;
}

/**
 * Where `push` finds the endpoint of a task, and reports what came of it. What a method throws fails the attempt, as
 * if the handler had thrown it: with a `RetryAfter`, the task waits for an endpoint that is to get nothing now.
 */
export interface EndpointSource<T = unknown, Env = unknown, Tools = PushTools> {
  /** Finds the endpoint of a task, most often by its group. Undefined: there is none, and the task is a dead letter. */
  find(context: PushContext<T, Env, Tools>): Promise<Endpoint | undefined> | Endpoint | undefined;
  /** Called after each request, before the task is settled. Not if the task was stopped, as by a lost lease. */
  report?(outcome: DeliveryOutcome, context: PushContext<T, Env, Tools>): unknown;
}
