/** The variables of an environment that say where Redis is, and what its keys begin with. */
import type { Credentials } from "./credentials.ts";
import { type Environment, variable } from "./environment.ts";
import { keyPrefix } from "./kernel/options/validation.ts";

/** The names of the two variables of Redis over HTTP: Upstash's own, and those of Vercel's integration. */
const REST_VARIABLES = [
  { url: "UPSTASH_REDIS_REST_URL", token: "UPSTASH_REDIS_REST_TOKEN" },
  { url: "KV_REST_API_URL", token: "KV_REST_API_TOKEN" },
] as const satisfies readonly Credentials[];

/** Redis over HTTP, as an environment names it. */
interface RestVariables {
  /** The names that the environment uses: the first pair of which it has one. @default Upstash's */
  readonly names: Credentials;
  readonly url: string | undefined;
  readonly token: string | undefined;
}

/**
 * The URL and the token of Redis over HTTP, always of one pair: the URL of one database never goes with the token of
 * another.
 * @throws {SluiceError} `invalid_argument` for a variable that is not a text
 */
export function restVariables(env: Environment): RestVariables {
  const pairs = REST_VARIABLES.map((names) => ({
    names,
    url: variable(env, names.url),
    token: variable(env, names.token),
  }));
  return (
    pairs.find(({ url, token }) => url !== undefined || token !== undefined) ?? (pairs[0] as RestVariables)
  );
}

/**
 * The prefix of every key: `SLUICE_PREFIX`; undefined if it is not set.
 * @throws {SluiceError} `invalid_argument`
 */
export function prefixVariable(env: Environment): string | undefined {
  const prefix = variable(env, "SLUICE_PREFIX");
  return prefix === undefined ? undefined : keyPrefix(prefix, "SLUICE_PREFIX");
}
