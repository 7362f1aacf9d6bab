import type { AlertEvaluator } from "../features/alerts/index.ts";
import { invalidArgument } from "../errors.ts";
import type { ServiceOptions } from "./options.ts";

/** @throws {SluiceError} `invalid_argument`, also for an invalid receiver */
export function connectedAlerts<Env extends object>(
  alerts: ServiceOptions<Env>["alerts"],
  env: Env,
): AlertEvaluator | undefined {
  if (alerts === undefined) return undefined;
  if (typeof alerts?.connect !== "function") {
    throw invalidArgument("alerts", "must be what defineAlerts of sluice-queue/alerts returns");
  }
  return alerts.connect(env);
}
