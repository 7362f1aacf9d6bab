import { type Environment, variable } from "./environment.ts";
import { isSigningSecret, SECRET_FORM } from "./signature.ts";
import { checkedCredentials } from "./credentials.ts";
import { invalidArgument } from "./errors.ts";
import { checkCronSecrets, parseTokens, type TokenEntry } from "./http/auth/tokens.ts";
import { prefixVariable, restVariables } from "./redis-variables.ts";
import { checkedUrl, HTTP } from "./url.ts";

export type { Environment } from "./environment.ts";

/** Redis over HTTP, as on Upstash; or the `REDIS_URL` of one over TCP, which `resp` checks. */
export type RedisConfig = { readonly url: string; readonly token: string } | { readonly redisUrl: string };

export interface Config {
  readonly redis: RedisConfig;
  /** Empty if none is configured. The HTTP interface then responds `auth_not_configured`. */
  readonly tokens: readonly TokenEntry[];
  /** Bearer tokens of the platform's cron. Empty if none is configured. */
  readonly cronSecrets: readonly string[];
  /** The prefix of every key of this deployment. Undefined: the default, `sluice`. */
  readonly prefix: string | undefined;
  /** The URL that wakes consumers of another deployment or invocation. */
  readonly wakeUrl: string | undefined;
  /** Secrets of wakes: the first signs, all verify. Empty if wakes are not configured. */
  readonly wakeSecrets: readonly string[];
}

/**
 * Reads the configuration of a deployment, without the blanks and newlines around values. An empty variable counts as
 * unset.
 *
 * | variable | meaning |
 * |---|---|
 * | `UPSTASH_REDIS_REST_URL`, `UPSTASH_REDIS_REST_TOKEN` | Redis over HTTP; both or neither |
 * | `KV_REST_API_URL`, `KV_REST_API_TOKEN` | the same, by the names of Vercel's integration; used if the former two are unset |
 * | `REDIS_URL` | Redis over TCP, `redis://` or `rediss://`, or a cluster, `cluster://`; used if the former four are unset |
 * | `SLUICE_TOKENS` | JSON: `[{"sha256" or "token", "scopes": ["enqueue", "consume", "view", "admin"], "queues": "emails-*"}]` |
 * | `CRON_SECRET` | the bearer token of the platform's cron, at least 16 characters; several, separated by spaces, to rotate it |
 * | `SLUICE_PREFIX` | the prefix of every key, `sluice` by default |
 * | `SLUICE_WAKE_URL` | the URL that wakes consumers elsewhere: a deployment's `/wake` |
 * | `SLUICE_WAKE_SECRET` | signs wakes: `whsec_` and 24 to 64 bytes in base64; several, separated by spaces, to rotate it |
 *
 * @throws {SluiceError} `invalid_argument`; `path` is the variable. The message never contains a value.
 */
export function readConfig(env: Environment): Config {
  return {
    redis: readRedis(env),
    tokens: readTokens(env),
    cronSecrets: checkCronSecrets(several(env, "CRON_SECRET"), "CRON_SECRET"),
    prefix: prefixVariable(env),
    ...readWake(env),
  };
}

/**
 * Reads `PORT`, the port of a server process.
 * @returns `undefined` if it is not set
 * @throws {SluiceError} `invalid_argument`
 */
export function readPort(env: Environment): number | undefined {
  const given = variable(env, "PORT");
  if (given === undefined) return undefined;
  const port = parsePort(given);
  if (port === undefined) throw invalidArgument("PORT", portForm);
  return port;
}

/**
 * Whether a process wakes servers through Redis, and as a server listens to them: as `SLUICE_WAKE_PUBSUB` says, `on` or
 * `off`. By default only over TCP, where a command has no price.
 * @throws {SluiceError} `invalid_argument`
 */
export function wakesThroughRedis(env: Environment, redis: RedisConfig): boolean {
  const given = variable(env, "SLUICE_WAKE_PUBSUB");
  if (given === undefined) return "redisUrl" in redis;
  if (given !== "on" && given !== "off") throw invalidArgument("SLUICE_WAKE_PUBSUB", "must be on or off");
  return given === "on";
}

/** What a port must be. */
export const portForm = "must be a number from 0 to 65535";

/** The port in a text; `undefined` if it is invalid. */
export function parsePort(given: string): number | undefined {
  return /^\d{1,5}$/.test(given) && Number(given) <= 65_535 ? Number(given) : undefined;
}

function readWake(env: Environment): Pick<Config, "wakeUrl" | "wakeSecrets"> {
  const wakeUrl = address(env, "SLUICE_WAKE_URL");
  const wakeSecrets = several(env, "SLUICE_WAKE_SECRET");
  if (!wakeSecrets.every(isSigningSecret)) {
    throw invalidArgument("SLUICE_WAKE_SECRET", SECRET_FORM);
  }
  if (wakeUrl !== undefined && wakeSecrets.length === 0) {
    throw invalidArgument("SLUICE_WAKE_SECRET", "must be set, because SLUICE_WAKE_URL is set");
  }
  return { wakeUrl, wakeSecrets };
}

function readRedis(env: Environment): RedisConfig {
  const { names, url, token } = restVariables(env);
  if (url !== undefined && token !== undefined) {
    checkedCredentials({ url, token }, "", names);
    return { url, token };
  }
  if (url !== undefined) throw invalidArgument(names.token, `must be set, because ${names.url} is set`);
  if (token !== undefined) throw invalidArgument(names.url, `must be set, because ${names.token} is set`);

  const redisUrl = variable(env, "REDIS_URL");
  if (redisUrl !== undefined) return { redisUrl };
  if (env["REDIS_URL"] !== undefined)
    throw invalidArgument("REDIS_URL", "is empty; it must be a URL of Redis");
  throw invalidArgument(
    "UPSTASH_REDIS_REST_URL",
    "and UPSTASH_REDIS_REST_TOKEN must be set, or REDIS_URL if the platform supports TCP",
  );
}

function readTokens(env: Environment): TokenEntry[] {
  // `sluice token` prints it in quotes, which not every form and file removes.
  const json = variable(env, "SLUICE_TOKENS")?.replace(/^(['"])([^]*)\1$/, "$2");
  if (json === undefined) return [];
  let input: unknown;
  try {
    input = JSON.parse(json);
  } catch {
    // The parser's own message quotes the text, which contains secrets.
    throw invalidArgument("SLUICE_TOKENS", "must be JSON, such as `sluice token` prints");
  }
  return parseTokens(input, "SLUICE_TOKENS");
}

/** The values of a variable, separated by spaces or newlines, such as an old and a new secret. */
function several(env: Environment, name: string): string[] {
  return variable(env, name)?.split(/\s+/) ?? [];
}

/** A URL as it is written. */
function address(env: Environment, name: string): string | undefined {
  const value = variable(env, name);
  if (value !== undefined) checkedUrl(value, name, HTTP, "user and password");
  return value;
}
