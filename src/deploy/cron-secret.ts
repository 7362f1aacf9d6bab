import { type Environment, variable } from "../environment.ts";
import { cronSecretMissing } from "../log/lines.ts";
import { logTo } from "../log/log-to.ts";
import type { Platform, ServiceOptions } from "./options.ts";

/**
 * A platform whose cron is a request with `CRON_SECRET`. If a deployment with consumers has none, it logs one line.
 * @returns the platform for an environment
 * @throws {SluiceError} `invalid_argument` for an invalid logger, or variable
 */
export function withCronSecret<Env extends object>(
  { consumers, logger }: ServiceOptions<Env>,
  platform: Platform,
): (env: Env) => Platform {
  let isChecked = false;
  return (env) => {
    const isMissing = variable(env as Environment, "CRON_SECRET") === undefined;
    if (!isChecked && isMissing && Object.keys(Object(consumers) as object).length > 0)
      logTo(logger)(cronSecretMissing());
    isChecked = true;
    return platform;
  };
}
