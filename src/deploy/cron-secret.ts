import { type Environment, variable } from "../environment.ts";
import { cronSecretMissing } from "../log/lines.ts";
import { logTo } from "../log/log-to.ts";
import type { ServiceOptions } from "./options.ts";

/**
 * For a platform whose cron is a request with `CRON_SECRET`. If a deployment with consumers has none, it logs one line.
 * @returns checks an environment. It throws `invalid_argument` for an invalid variable
 */
export function cronSecretCheck<Env extends object>({
  consumers,
  logger,
}: ServiceOptions<Env>): (env: Env) => undefined {
  let isChecked = false;
  return (env) => {
    const isMissing = variable(env as Environment, "CRON_SECRET") === undefined;
    if (!isChecked && isMissing && Object.keys(Object(consumers) as object).length > 0)
      logTo(logger)(cronSecretMissing());
    isChecked = true;
    return undefined;
  };
}
