import { isWakeSecret } from "./consumer/wake/signature.ts";
import { invalidArgument } from "./errors.ts";
import { checkCronSecrets, parseTokens, type TokenEntry } from "./http/auth/tokens.ts";
import { keyPrefix } from "./queue/core/validation.ts";

/** How Redis is reached: over HTTP, as on Upstash, or over TCP. */
export type RedisConfig = { readonly url: string; readonly token: string } | { readonly redisUrl: string };

export interface Config {
  readonly redis: RedisConfig;
  /** Empty where none is configured: the HTTP app then answers `auth_not_configured`. */
  readonly tokens: readonly TokenEntry[];
  /** What the platform's cron sends as its bearer token; empty where none may sweep by a secret. */
  readonly cronSecrets: readonly string[];
  /** What every key of this deployment begins with. @default "sluice" */
  readonly prefix: string | undefined;
  /** Where consumers are woken that do not run here. */
  readonly wakeUrl: string | undefined;
  /** What signs wakes, and by which they are known here: the first signs. Empty where nobody is woken by a request. */
  readonly wakeSecrets: readonly string[];
}

/** `process.env`, or the `env` of a Worker, whose bindings need not be texts. */
export type Environment = Readonly<Record<string, unknown>>;

/**
 * Reads the configuration; the only reader of the environment. An empty variable counts as unset.
 *
 * | variable | meaning |
 * |---|---|
 * | `UPSTASH_REDIS_REST_URL`, `UPSTASH_REDIS_REST_TOKEN` | Redis over HTTP; both or neither |
 * | `REDIS_URL` | Redis over TCP, `redis://` or `rediss://`; used where the former two are unset |
 * | `SLUICE_TOKENS` | JSON: `[{"sha256" or "token", "scopes": ["enqueue", "consume", "admin"], "queues": "emails-*"}]` |
 * | `CRON_SECRET` | at least 16 characters; lets the platform's cron sweep; several, with spaces between, while it is being changed |
 * | `SLUICE_PREFIX` | what every key begins with, `sluice` by default |
 * | `SLUICE_WAKE_URL` | where consumers elsewhere are woken: a deployment's `/wake` |
 * | `SLUICE_WAKE_SECRET` | signs wakes: `whsec_` and 24 to 64 bytes in base64; several, with spaces between, while it is being changed |
 *
 * @throws {SluiceError} invalid_argument; `path` is the variable. No message holds a value.
 */
export function readConfig(env: Environment): Config {
  return {
    redis: readRedis(env),
    tokens: readTokens(env),
    cronSecrets: checkCronSecrets(several(env, "CRON_SECRET"), "CRON_SECRET"),
    prefix: readPrefix(env),
    ...readWake(env),
  };
}

/**
 * Where a server listens that is a process of its own: `PORT`.
 * @throws {SluiceError} invalid_argument
 */
export function readPort(env: Environment): number | undefined {
  const port = text(env, "PORT");
  if (port === undefined) return undefined;
  if (/^\d{1,5}$/.test(port) && Number(port) <= 65_535) return Number(port);
  throw invalidArgument("PORT", "must be a number from 0 to 65535");
}

function readWake(env: Environment): Pick<Config, "wakeUrl" | "wakeSecrets"> {
  const wakeUrl = address(env, "SLUICE_WAKE_URL", ["https:", "http:"]);
  const wakeSecrets = several(env, "SLUICE_WAKE_SECRET");
  if (!wakeSecrets.every(isWakeSecret)) {
    throw invalidArgument("SLUICE_WAKE_SECRET", "must be whsec_ and 24 to 64 bytes in base64");
  }
  if (wakeUrl !== undefined && wakeSecrets.length === 0) {
    throw invalidArgument("SLUICE_WAKE_SECRET", "is not set, but SLUICE_WAKE_URL is");
  }
  if (wakeUrl !== undefined && new URL(wakeUrl).username + new URL(wakeUrl).password !== "") {
    throw invalidArgument("SLUICE_WAKE_URL", "must be a URL without a user and a password");
  }
  return { wakeUrl, wakeSecrets };
}

function readRedis(env: Environment): RedisConfig {
  const url = address(env, "UPSTASH_REDIS_REST_URL", ["https:", "http:"]);
  const token = text(env, "UPSTASH_REDIS_REST_TOKEN");
  if (url !== undefined && token !== undefined) return { url, token };
  if (url !== undefined)
    throw invalidArgument("UPSTASH_REDIS_REST_TOKEN", "is not set, but UPSTASH_REDIS_REST_URL is");
  if (token !== undefined)
    throw invalidArgument("UPSTASH_REDIS_REST_URL", "is not set, but UPSTASH_REDIS_REST_TOKEN is");

  const redisUrl = address(env, "REDIS_URL", ["redis:", "rediss:"]);
  if (redisUrl !== undefined) return { redisUrl };
  throw invalidArgument(
    "UPSTASH_REDIS_REST_URL",
    "and UPSTASH_REDIS_REST_TOKEN have to be set, or REDIS_URL where TCP is allowed",
  );
}

function readTokens(env: Environment): TokenEntry[] {
  const json = text(env, "SLUICE_TOKENS");
  if (json === undefined) return [];
  let input: unknown;
  try {
    input = JSON.parse(json);
  } catch {
    // The parser's own message quotes the text, which holds secrets.
    throw invalidArgument("SLUICE_TOKENS", "is not JSON");
  }
  return parseTokens(input, "SLUICE_TOKENS");
}

function readPrefix(env: Environment): string | undefined {
  const prefix = text(env, "SLUICE_PREFIX");
  return prefix === undefined ? undefined : keyPrefix(prefix, "SLUICE_PREFIX");
}

function text(env: Environment, name: string): string | undefined {
  const value = env[name];
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string") throw invalidArgument(name, "must be a text");
  return value.trim();
}

/** What stands in one variable with spaces between, such as an old secret beside its successor. */
function several(env: Environment, name: string): string[] {
  return text(env, name)?.split(/ +/) ?? [];
}

function address(env: Environment, name: string, schemes: readonly string[]): string | undefined {
  const value = text(env, name);
  if (value === undefined) return undefined;
  const scheme = URL.canParse(value) ? new URL(value).protocol : undefined;
  if (scheme !== undefined && schemes.includes(scheme)) return value;
  throw invalidArgument(
    name,
    `must be a URL that begins with ${schemes.map((one) => `${one}//`).join(" or ")}`,
  );
}
