import { Redis } from "@upstash/redis/cloudflare";

import { invalidArgument } from "../errors.ts";
import { networkError, Transient } from "../retry.ts";
import type { Transport } from "../queue/redis/transport.ts";
import { checkedUrl, HTTP } from "../url.ts";
import { redisError, withhold, type Words } from "./redis-error.ts";
import { toReply } from "./reply.ts";
import type { RetryOptions } from "./retry.ts";
import { sender, type Answer, type Exchange } from "./send.ts";
import { openingOver } from "./subscribe-upstash.ts";
import { subscriber } from "./subscriber.ts";

export interface UpstashOptions {
  /** When and how long to resend. */
  readonly retry?: RetryOptions | undefined;
  /**
   * Sends every script in the variant that locks only its own keys, so that queues run in parallel.
   * Without it Upstash locks the whole database for each script. @default true
   */
  readonly keyLocking?: boolean | undefined;
}

/** The REST endpoint of one database; the options may stand beside it. */
export interface UpstashCredentials extends UpstashOptions {
  readonly url: string | undefined;
  readonly token: string | undefined;
}

/** An environment such as a Worker's `env`, with the variables under the names that Upstash uses. */
export interface UpstashEnvironment {
  readonly UPSTASH_REDIS_REST_URL?: string | undefined;
  readonly UPSTASH_REDIS_REST_TOKEN?: string | undefined;
}

/** Such as `process.env`. */
type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Reaches Redis over HTTP, by the REST protocol of Upstash. Keeps no connection, but for a subscription, and
 * needs nothing of Node, so it runs in Workers, Edge functions, Lambda, Deno and Bun too.
 *
 * @param from the environment that names the database, or `{ url, token }`
 * @throws {SluiceError} `invalid_argument` where the URL or the token is missing or of no use
 * @example upstash(env)
 * @example upstash({ url, token }, { retry: { deadline: 3_000 } })
 */
export function upstash(
  from: UpstashCredentials | UpstashEnvironment | Variables,
  options: UpstashOptions = {},
): Transport {
  const { url, token, ...beside } = credentials(from);
  const { retry, keyLocking = true } = { ...beside, ...options };
  return {
    database: url,
    send: sender(exchangeOver(new Endpoint(url, token), token), { retry, keyLocking }),
    subscribe: subscriber(openingOver(url, token), retry),
  };
}

/**
 * The SDK, set up against its traps:
 * - Its own resends are off. `retry: false` would still send twice.
 * - Replies stay as they are: with deserialization the text `"42"` becomes a number.
 * - Strings come as JSON, not base64: the SDK's base64 decoder drops a byte order mark at the start
 *   of a text, and costs time. All that Sluice stores is UTF-8.
 * - Requests go straight to its HTTP client: its pipeline cannot take a command by its name.
 * - The Cloudflare entry is the one that touches neither `process` nor fetch's `cache` option.
 * - It calls the global fetch, and shows neither the status nor the headers of a reply. So a single
 *   command goes as a pipeline too: there the error of a command stands in the reply, and whatever
 *   comes as an HTTP error is about the request. A Retry-After cannot be honoured.
 */
class Endpoint extends Redis {
  constructor(url: string, token: string) {
    super({
      url,
      token,
      retry: { retries: 0 },
      automaticDeserialization: false,
      enableAutoPipelining: false,
      enableTelemetry: false,
      responseEncoding: false,
    });
  }

  /** When the signal aborts, the SDK may resolve to a reply that nobody gave. `retry` drops it. */
  post(commands: readonly Words[], signal: AbortSignal): Promise<unknown> {
    return this.client.request({ path: ["pipeline"], body: commands, signal });
  }
}

function exchangeOver(endpoint: Endpoint, token: string): Exchange {
  // What answers may repeat the credentials: then they are taken out like an argument.
  const credentials = ["AUTH", token];
  return async (commands, own) => {
    const results = await endpoint.post(commands, own.signal).catch((error: unknown) => {
      throw failure(error, [...commands, credentials]);
    });
    if (!Array.isArray(results) || results.length !== commands.length) throw new Transient(notAReply);
    return results.map((result) => toAnswer(result, token));
  };
}

const notAReply = "a reply that is not one of the Redis REST protocol";

function toAnswer(result: unknown, token: string): Answer {
  if (typeof result !== "object" || result === null) throw new Transient(notAReply);
  if ("error" in result && typeof result.error === "string") {
    return { redisError: result.error.replaceAll(token, "…") };
  }
  if ("result" in result) return { reply: toReply(result.result) };
  throw new Transient(notAReply);
}

/** HTTP errors that another try would meet again. Those of credentials, quota and size have codes. */
const inVain = /syntax error|parse|malformed|unsupported|bad request|not found|not allowed/i;

/** What an exception of the SDK means. Its messages quote commands and replies: that goes no further. */
function failure(error: unknown, commands: readonly Words[]): Error {
  if (!(error instanceof Error)) return new Transient("an unknown failure");
  if (error.name === "UpstashJSONParseError") return new Transient("a reply that is not JSON");
  const text = withhold(error.message, ...commands);
  if (error.name !== "UpstashError") return networkError(error, text);
  const refusal = redisError(text);
  if (refusal.code !== "redis_error" || inVain.test(text)) return refusal;
  return new Transient(`an HTTP error (${text})`);
}

/** @throws {SluiceError} that never names the token */
function credentials(from: UpstashCredentials | UpstashEnvironment | Variables): Given {
  if (isCredentials(from)) {
    return { ...from, url: endpoint(from.url, "url"), token: bearerToken(from.token, "token") };
  }
  return {
    url: endpoint(from.UPSTASH_REDIS_REST_URL, "UPSTASH_REDIS_REST_URL"),
    token: bearerToken(from.UPSTASH_REDIS_REST_TOKEN, "UPSTASH_REDIS_REST_TOKEN"),
  };
}

type Given = UpstashOptions & { readonly url: string; readonly token: string };

function isCredentials(from: object): from is UpstashCredentials {
  return "url" in from || "token" in from;
}

function endpoint(value: unknown, name: string): string {
  const url = given(value, name);
  return checkedUrl(url, name, HTTP, "user, password, query and fragment").href;
}

function bearerToken(value: unknown, name: string): string {
  const token = given(value, name);
  if (/^[!-~]+$/.test(token)) return token;
  throw invalidArgument(name, "must be visible ASCII characters without spaces");
}

function given(value: unknown, name: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw invalidArgument(name, "is missing");
}
