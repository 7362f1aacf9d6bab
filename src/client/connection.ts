import { invalidArgument, SluiceError } from "../errors.ts";
import { milliseconds, type Duration } from "../queue/core/duration.ts";
import { newToken } from "../queue/core/ids.ts";
import { onlyOptions, requestKey } from "../queue/core/validation.ts";
import type { RequestOptions } from "../queue/core/types.ts";
import { LONGEST_TIMER, sleep } from "../sleep.ts";
import { readAnswer, type Answer } from "./replies.ts";

/** How requests leave: what every platform's `fetch` can do. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface ConnectionOptions {
  /** Where the server is, without the `/v1` of its routes, such as `https://queue.example.com`; it may have a path. */
  readonly url: string | undefined;
  /** One of the server's bearer tokens. */
  readonly token: string | undefined;
  /** Sends each request, over a service binding for instance. @default the platform's */
  readonly fetch?: Fetch | undefined;
  readonly retry?:
    | {
        /** For all copies of one request and the waits between them, beyond a `wait` of its own. @default "10s" */
        readonly deadline?: Duration | undefined;
        /** For one copy, likewise; then another is sent. @default "5s" */
        readonly tryTimeout?: Duration | undefined;
      }
    | undefined;
}

/** One request, of which several copies may be sent. */
export interface Call {
  readonly method: "GET" | "POST";
  /** Behind the URL, such as `/v1/sweep`. */
  readonly path: string;
  /** JSON of a POST, made for each copy. */
  readonly body?: () => string;
  /** How long the server may take because it was asked to, ms. @default 0 */
  readonly wait?: number;
  /** A member that every reply has. */
  readonly has: string;
  readonly options: RequestOptions;
}

/** Upper bound of the wait after the first copy, ms; it doubles with each further one, up to the longest. */
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 1_000;

/** The way to the server. It holds no state, and no connection. */
export class Connection {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: Fetch;
  readonly #deadline: number;
  readonly #tryTimeout: number;

  /** @throws {SluiceError} `invalid_argument`, without the token */
  constructor(options: ConnectionOptions) {
    onlyOptions(options, ["url", "token", "fetch", "retry"]);
    const { url, token, fetch, retry = {} } = options;
    onlyOptions(retry, ["deadline", "tryTimeout"], "retry.");
    this.#url = checkedUrl(url);
    this.#headers = { authorization: `Bearer ${checkedToken(token)}`, accept: "application/json" };
    if (fetch !== undefined && typeof fetch !== "function")
      throw invalidArgument("fetch", "must be a function");
    // Looked up at each call, and called on nothing: platforms refuse a `fetch` on an object that is not theirs.
    this.#fetch = fetch ?? ((to, init) => globalThis.fetch(to, init));
    this.#deadline = milliseconds(retry.deadline ?? "10s", "retry.deadline", TIMER);
    this.#tryTimeout = milliseconds(retry.tryTimeout ?? "5s", "retry.tryTimeout", TIMER);
  }

  /**
   * Sends the request until it is answered. Every copy of a POST has the same Idempotency-Key.
   * @returns the reply, or that of the refusals which the server's problem names
   * @throws {SluiceError}
   */
  async request<Reply extends object, Refusal extends string = never>(
    call: Call,
    refusals: readonly Refusal[] = [],
  ): Promise<Reply | Refusal> {
    const { wait = 0, options } = call;
    const { signal } = options;
    const headers: Record<string, string> = { ...this.#headers };
    if (call.method === "POST") {
      headers["content-type"] = "application/json";
      headers["idempotency-key"] = requestKey(options) ?? newToken();
    }
    const start = performance.now();
    const end = start + wait + this.#deadline;
    let last = "";
    for (let copies = 1; ; copies++) {
      if (signal?.aborted) throw aborted();
      const now = performance.now();
      // A sleep may last longer than it was asked to.
      if (now >= end) throw unreachable(copies - 1, now - start, last);
      const enough = Math.max(0, start + wait - now) + this.#tryTimeout;
      const timeout = Math.min(enough, end - now, TIMER.max);
      const answer: Answer = (await this.#within(timeout, signal, (over) =>
        this.#exchange(call, headers, over),
      )) ?? {
        // A copy that the deadline cut short says less than the one before it.
        lost: (timeout < enough && last) || `no answer within ${Math.round(timeout)} ms`,
      };
      if ("reply" in answer) return answer.reply as Reply;
      if ("error" in answer) {
        const refusal = refusals.find((code) => "refused" in answer && code === answer.refused);
        if (refusal !== undefined) return refusal;
        throw answer.error;
      }
      if (signal?.aborted) throw aborted();
      last = answer.lost;
      // Full jitter: clients that failed together must not come back together.
      const pause = Math.random() * Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (copies - 1));
      const rest = Math.max(pause, answer.after ?? 0);
      const elapsed = performance.now() - start;
      if (start + elapsed + rest >= end) throw unreachable(copies, elapsed, last);
      await sleep(rest, signal);
    }
  }

  /** One copy. What it sent or got never goes into the answer's words. */
  async #exchange(
    { method, path, body, has }: Call,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Answer> {
    // Outside of what counts as lost: what no JSON can express stays so.
    const init = { method, headers, ...(body && { body: body() }), signal };
    try {
      // A redirect could lead the token elsewhere, and make a GET of a POST.
      const response = await this.#fetch(this.#url + path, { ...init, redirect: "manual" });
      return readAnswer(response, await response.text(), has);
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined;
      const code = cause instanceof Error && "code" in cause ? ` (${String(cause.code)})` : "";
      return { lost: `a network error${code}` };
    }
  }

  /** Ends one copy, and does not wait for it, after `timeout` ms or when the caller aborts: then nothing came. */
  async #within(
    timeout: number,
    signal: AbortSignal | undefined,
    copy: (over: AbortSignal) => Promise<Answer>,
  ): Promise<Answer | undefined> {
    const over = new AbortController();
    const end = () => over.abort();
    signal?.addEventListener("abort", end);
    try {
      return (await Promise.race([copy(over.signal), sleep(timeout, over.signal)])) ?? undefined;
    } finally {
      signal?.removeEventListener("abort", end);
      end();
    }
  }
}

/** What a timer can be set to, ms. */
const TIMER = { min: 1, max: LONGEST_TIMER };

function checkedUrl(value: unknown): string {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  if (url && /^https?:$/.test(url.protocol) && !(url.username || url.password || url.search || url.hash)) {
    return url.href.replace(/\/+$/, "");
  }
  throw invalidArgument("url", "must be an http or https URL without user, password, query and fragment");
}

function checkedToken(value: unknown): string {
  if (typeof value === "string" && /^[!-~]+$/.test(value)) return value;
  throw invalidArgument("token", "must be visible ASCII characters without spaces");
}

function aborted(): SluiceError {
  return new SluiceError("aborted", "the request was aborted by its signal; it may have taken effect");
}

function unreachable(copies: number, elapsed: number, cause: string): SluiceError {
  const effort = `${copies} ${copies === 1 ? "try" : "tries"} over ${Math.round(elapsed)} ms`;
  const message = `the server gave no useful answer in ${effort}; the last time: ${cause}`;
  return new SluiceError("unreachable", message);
}
