import { Redis } from "@upstash/redis/cloudflare";

import { checkedCredentials, type Credentials } from "../credentials.ts";
import { invalidArgument } from "../errors.ts";
import { type Environment, processEnvironment, type Variables } from "../environment.ts";
import { prefixVariable, restVariables } from "../redis-variables.ts";
import { Transient } from "../retry.ts";
import type { Transport } from "../kernel/transport.ts";
import type { CommandWords } from "./command-words.ts";
import { toReply } from "./reply.ts";
import type { RetryOptions } from "./retry.ts";
import { sender, type ExchangeResult, type Exchange } from "./send.ts";

export interface UpstashOptions {
  /** When and how long to resend requests. */
  readonly retry?: RetryOptions | undefined;
  /**
   * Sends each script in the variant that locks only its own keys, so that queues run in parallel.
   * Without it Upstash locks the whole database for each script. @default true
   */
  readonly keyLocking?: boolean | undefined;
}

/** The REST endpoint of a database, with options. */
export interface UpstashCredentials extends UpstashOptions {
  readonly url: string | undefined;
  readonly token: string | undefined;
}

/** An environment, such as a Worker's `env`, with the variables that Upstash or Vercel's integration names. */
export interface UpstashEnvironment {
  readonly UPSTASH_REDIS_REST_URL?: string | undefined;
  readonly UPSTASH_REDIS_REST_TOKEN?: string | undefined;
  readonly KV_REST_API_URL?: string | undefined;
  readonly KV_REST_API_TOKEN?: string | undefined;
  readonly SLUICE_PREFIX?: string | undefined;
}

/**
 * Reaches Redis over HTTP, by the REST protocol of Upstash. It keeps no connection, except for a
 * subscription. It needs no Node, so it runs in Workers, Edge functions, Lambda, Deno and Bun too.
 *
 * @param from the environment with the database's URL and token, or `{ url, token }`. Default: the environment
 *   of the process. A Worker passes its `env`. Of an environment, `SLUICE_PREFIX` is the prefix of the keys of all that
 *   uses the transport, unless it has a `prefix` of its own
 * @param options.retry times in ms. Default: tries of 5 s each, for 10 s in all
 * @param options.keyLocking whether scripts lock only their own keys. Default: true
 * @returns a transport for a `Queue` or `Producer`
 * @throws {SluiceError} `invalid_argument` if the URL or the token is missing, or an argument is invalid
 * @example upstash(env)
 * @example upstash({ url, token }, { retry: { deadline: 3_000 } })
 */
export function upstash(
  from: UpstashCredentials | UpstashEnvironment | Variables = processEnvironment(),
  options: UpstashOptions = {},
): Transport {
  if (typeof from !== "object" || from === null) {
    throw invalidArgument("the first argument", "must be an environment, such as env, or { url, token }");
  }
  const { url, token, prefix, named, ...beside } = credentials(from);
  const { retry, keyLocking = true } = { ...beside, ...options };
  return {
    database: url,
    prefix,
    send: sender(exchangeOver(new Endpoint(url, token), token, named), { retry, keyLocking }),
    async subscribe(...args) {
      const { subscribeOverHttp } = await import("./subscribe-upstash.ts");
      return subscribeOverHttp(url, token, retry)(...args);
    },
  };
}

/**
 * The SDK, without its pitfalls:
 * - Its own resends are off. `retry: false` would still send twice.
 * - Replies are not deserialized: the text `"42"` would become a number.
 * - Strings are sent as JSON, not base64. The SDK's base64 decoder is slow, and drops a byte order mark at
 *   the start of a text. All that Sluice stores is UTF-8.
 * - Requests go directly to its HTTP client: its pipeline does not accept a command by name.
 * - Only the Cloudflare entry uses neither `process` nor the `cache` option of fetch.
 * - It does not expose the status and the headers of a response. So a single command is sent as a pipeline
 *   too: there the reply contains the error of a command, and an HTTP error is about the request. A
 *   Retry-After cannot be honoured.
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

  /** When the signal aborts, the SDK may resolve to a reply that Redis did not send. `retry` drops it. */
  post(commands: readonly CommandWords[], signal: AbortSignal): Promise<unknown> {
    return this.client.request({ path: ["pipeline"], body: commands, signal });
  }
}

/** @param named the variable of the token */
function exchangeOver(endpoint: Endpoint, token: string, named: string | undefined): Exchange {
  // An error may repeat the token, which `redact` then removes as it does an argument.
  const credentials = ["AUTH", token];
  return async (commands, currentTry) => {
    const results = await endpoint.post(commands, currentTry.signal).catch(async (error: unknown) => {
      const { failureOf } = await import("./upstash-failure.ts");
      throw failureOf(error, [...commands, credentials], named);
    });
    if (!Array.isArray(results) || results.length !== commands.length) throw new Transient(NOT_A_REPLY);
    return results.map((result) => toResult(result, token));
  };
}

const NOT_A_REPLY = "a reply that is not one of the Redis REST protocol";

function toResult(result: unknown, token: string): ExchangeResult {
  if (typeof result !== "object" || result === null) throw new Transient(NOT_A_REPLY);
  if ("error" in result && typeof result.error === "string") {
    return { redisError: result.error.replaceAll(token, "…") };
  }
  if ("result" in result) return { reply: toReply(result.result) };
  throw new Transient(NOT_A_REPLY);
}

/** @throws {SluiceError} `invalid_argument`, without the token */
function credentials(
  from: UpstashCredentials | UpstashEnvironment | Variables,
): Credentials & UpstashOptions & { readonly prefix?: string | undefined; readonly named?: string } {
  const hint = "pass the environment that has both, as upstash(env), or { url, token }";
  if (isCredentials(from)) {
    const { url, token, ...options } = from;
    return { ...options, ...checkedCredentials({ url, token }, hint) };
  }
  const env = from as Environment;
  const { names, ...given } = restVariables(env);
  return { ...checkedCredentials(given, hint, names), prefix: prefixVariable(env), named: names.token };
}

function isCredentials(from: object): from is UpstashCredentials {
  return "url" in from || "token" in from;
}
