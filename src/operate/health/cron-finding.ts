import type { DeploymentCode } from "./codes.ts";
import { type Finding, finding } from "./finding.ts";

/**
 * Whether cron can call a deployment.
 * @param isSet whether it has a `CRON_SECRET`
 * @param isNeeded whether its platform is known to need one
 */
export function cronFinding(isSet: boolean, isNeeded: boolean): Finding<DeploymentCode> {
  const of = ["cron_refused", "cron"] as const;
  if (isSet) return finding("ok", ...of, "CRON_SECRET is set");
  const advice =
    "on Vercel and with Next.js set it: without it cron is refused, so that retries, delayed tasks and schedules do not start. Other platforms do not need it";
  return finding(isNeeded ? "warning" : "unknown", ...of, "CRON_SECRET is not set", advice);
}
