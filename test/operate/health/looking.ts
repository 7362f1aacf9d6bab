import { type HealthFinding, type HealthOptions, queueHealth } from "../../../src/index.ts";
import type { useRig } from "../../support/rig.ts";

/** Looks at the health of the rig's queues, at its time. */
export function looking(rig: ReturnType<typeof useRig>) {
  const health = (options: HealthOptions = {}) =>
    queueHealth(rig.transport, { now: () => rig.now, ...options });
  /** The findings about queues: code, status, text and advice. */
  const findings = async (options?: HealthOptions) =>
    (await health(options)).findings
      .filter((one): one is HealthFinding & { queue: string } => "queue" in one)
      .map(({ code, status, found, advice }) => [code, status, found, advice]);
  return { health, findings };
}
