/** The variables of an environment that say where Redis is, and what its keys begin with. */
import type { Credentials } from "./credentials.ts";
import { type Environment, variable } from "./environment.ts";
import { keyPrefix } from "./queue/core/validation.ts";

/** The names of the two variables of Redis over HTTP. */
export const REST_VARIABLES: Credentials = {
  url: "UPSTASH_REDIS_REST_URL",
  token: "UPSTASH_REDIS_REST_TOKEN",
};

/**
 * The prefix of every key: `SLUICE_PREFIX`; undefined if it is not set.
 * @throws {SluiceError} `invalid_argument`
 */
export function prefixVariable(env: Environment): string | undefined {
  const prefix = variable(env, "SLUICE_PREFIX");
  return prefix === undefined ? undefined : keyPrefix(prefix, "SLUICE_PREFIX");
}
