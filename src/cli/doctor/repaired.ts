import { type Finding, finding } from "../../operate/health/index.ts";
import { deepSweep } from "../commands/sweep.ts";
import type { Session } from "../session.ts";

/** Checks and repairs every entry. @param queues undefined: all */
export async function repaired(
  session: Session,
  queues: readonly (string | undefined)[],
): Promise<Finding[]> {
  const swept = [];
  for (const queue of queues) swept.push(await deepSweep(session, queue));
  const [faults, failed] = [swept.flatMap((one) => one.faults), swept.flatMap((one) => one.failed)];
  return [
    ...faults.map(({ queue, fault, count: found }) =>
      finding(
        "warning",
        "repaired",
        queue,
        `${fault}: ${found} repaired`,
        "a failover or other code changed its keys",
      ),
    ),
    ...failed.map(({ queue, code }) =>
      finding("problem", "not_checked", queue, `not checked: ${code}`, "run the doctor again"),
    ),
    ...(faults.length + failed.length === 0 ? [finding("ok", "deep_sweep", "deep sweep", "no fault")] : []),
  ];
}
