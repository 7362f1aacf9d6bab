import { checkedCredentials } from "../credentials.ts";
import { SluiceError } from "../errors.ts";
import { given } from "../pick.ts";
import { milliseconds, type Duration } from "../kernel/options/duration.ts";
import { newToken } from "../kernel/names/ids.ts";
import { onlyOptions, optionalFunction, requestKey } from "../kernel/options/validation.ts";
import { checkedTracing, type Tracing } from "../features/tracing/types.ts";
import type { AddHeaders } from "../kernel/hooks.ts";
import type { RequestOptions } from "../kernel/options/types.ts";
import { defaultPolicy, networkError, retry, type RetryPolicy } from "../retry.ts";
import { LONGEST_TIMER } from "../sleep.ts";
import { readReply } from "./replies.ts";

/** Sends a request: what the `fetch` of every platform can do. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface ConnectionOptions {
  /** The server's URL without `/v1`, such as `https://queue.example.com`; it may have a path. */
  readonly url: string | undefined;
  /** One of the server's bearer tokens. */
  readonly token: string | undefined;
  /** Sends each request, for example over a service binding. @default the platform's `fetch` */
  readonly fetch?: Fetch | undefined;
  readonly retry?:
    | {
        /**
         * The longest time for all copies of one request, with the waits between them. The `wait` of a
         * dequeue, or the budget of a sweep, is added.
         * @default "10s"
         */
        readonly deadline?: Duration | undefined;
        /**
         * The longest time for one copy. Then the client sends another. A `wait` or budget is added here
         * too.
         * @default "5s"
         */
        readonly tryTimeout?: Duration | undefined;
      }
    | undefined;
  /**
   * Traces what the client's queues do, and the handlers of their drains: `openTelemetry()` of
   * `sluice-queue/opentelemetry`. A request that enqueues tasks continues the trace by its headers.
   * @default no traces
   */
  readonly tracing?: Tracing | undefined;
}

/** One request. The client may send several copies of it. */
export interface ServerRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Appended to the URL, such as `/v1/sweep`. */
  readonly path: string;
  /** Appended to the path: the fields that are not undefined. The server checks them. @default none */
  readonly query?: object;
  /** The JSON of the body, or what makes it for each copy. */
  readonly body?: string | (() => string) | undefined;
  /** How long the server was asked to wait or work, ms. @default 0 */
  readonly wait?: number;
  /** A field that every reply to this request has. */
  readonly replyField: string;
  /** Adds headers to those of the request. @default none */
  readonly addHeaders?: AddHeaders | undefined;
  readonly options: RequestOptions;
}

/** Sends requests to the server. It keeps no state and no connection between them. */
export class Connection {
  readonly hooks: Tracing | undefined;
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: Fetch;
  readonly #policy: RetryPolicy;
  readonly #options: ConnectionOptions;
  readonly #onSend: (() => void) | undefined;

  /**
   * @param onSend called before each copy of a request is sent, which is not sent if that throws. Default: none
   * @throws {SluiceError} `invalid_argument`, without the token
   */
  constructor(options: ConnectionOptions, onSend?: () => void) {
    this.#options = options;
    this.#onSend = onSend;
    onlyOptions(options, ["url", "token", "fetch", "retry", "tracing"]);
    const { url, token, fetch, retry: limits = {} } = options;
    onlyOptions(limits, ["deadline", "tryTimeout"], "retry.");
    const credentials = checkedCredentials(
      { url, token },
      "pass the server's URL and one of its bearer tokens, as { url, token }",
    );
    this.#url = credentials.url.replace(/\/+$/, "");
    this.#headers = { authorization: `Bearer ${credentials.token}`, accept: "application/json" };
    this.hooks = checkedTracing(options.tracing);
    // Looked up for each request, and called without an object: platforms refuse a `fetch` of another object.
    this.#fetch = optionalFunction(fetch, "fetch") ?? ((to, init) => globalThis.fetch(to, init));
    const { deadline = defaultPolicy.deadline, tryTimeout = defaultPolicy.tryTimeout } = limits;
    this.#policy = {
      ...defaultPolicy,
      deadline: milliseconds(deadline, "retry.deadline", TIMER),
      tryTimeout: milliseconds(tryTimeout, "retry.tryTimeout", TIMER),
    };
  }

  /** The same connection, which calls `onSend` too. */
  counted(onSend: () => void): Connection {
    return new Connection(this.#options, () => {
      this.#onSend?.();
      onSend();
    });
  }

  /**
   * Sends the request until it is answered. Each copy of a POST has the same Idempotency-Key.
   * @param refusals codes of problems to return instead of throwing them
   * @returns the reply, or the code of a refusal
   * @throws {SluiceError}
   */
  async request<Reply extends object, Refusal extends string = never>(
    request: ServerRequest,
    refusals: readonly Refusal[] = [],
  ): Promise<Reply | Refusal> {
    const { wait, options, addHeaders } = request;
    const headers = { ...(addHeaders?.(this.#headers) ?? this.#headers) };
    if (request.method !== "GET") {
      headers["content-type"] = "application/json";
      headers["idempotency-key"] = requestKey(options) ?? newToken();
    }
    return retry({
      policy: this.#policy,
      wait,
      signal: options.signal,
      attempt: async ({ signal }) => {
        const [response, text] = await this.#exchange(request, headers, signal);
        return readReply(response, text, request.replyField, refusals) as Reply | Refusal;
      },
      giveUp,
    });
  }

  /** Opens a stream of server-sent events. Sends one copy, and rejects as `fetch` does. */
  stream(path: string, signal: AbortSignal): Promise<Response> {
    this.#onSend?.();
    const headers = { ...this.#headers, accept: "text/event-stream" };
    return this.#fetch(this.#url + path, { headers, signal, redirect: "manual" });
  }

  /**
   * Sends one copy. No error text repeats what was sent or received.
   * @throws {Transient} if another copy may succeed
   */
  async #exchange(
    { method, path, query = {}, body }: ServerRequest,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<[response: Response, text: string]> {
    const json = typeof body === "function" ? body() : body;
    // A redirect could lead the token elsewhere, and make a GET of a POST.
    const init = { method, headers, body: json ?? null, signal, redirect: "manual" } as const;
    this.#onSend?.();
    const params = new URLSearchParams(given(query) as Record<string, string>).toString();
    try {
      const url = this.#url + path + (params && `?${params}`);
      const response = await this.#fetch(url, init);
      return [response, await response.text()];
    } catch (error) {
      throw networkError(error);
    }
  }
}

/** The range of a timer, ms. */
const TIMER = { min: 1, max: LONGEST_TIMER };

function giveUp(last: Error, effort: string): SluiceError {
  const message = `the server gave no useful answer in ${effort}; the last time: ${last.message}`;
  return new SluiceError("unreachable", message);
}
