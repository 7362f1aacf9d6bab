import { onDemand } from "../deploy/on-demand.ts";
import { Service, type Platform, type ServiceOptions } from "../deploy/service.ts";
import type { Transport } from "../kernel/transport.ts";
import { offloadOrDefault } from "./memory-store.ts";

/**
 * The service of a deployment on the platform that a test is.
 * @param offload the object stores of all queues
 */
export function testService<Env extends object>(
  app: ServiceOptions<Env>,
  env: Env,
  transport: Transport,
  offload: Platform["offload"],
): Service<Env> {
  const options = {
    ...app,
    // A test sends no alerts, as it sends no wakes.
    alerts: undefined,
    offload: app.offload && ((given: Env) => offloadOrDefault(app.offload, given)),
  };
  return new Service(env, options, {
    transport: () => transport,
    onDemand,
    budget: "25s",
    afterResponse: "bounded",
    // The clock does not move while consumers work.
    maxIdle: -1,
    // Failures, and not the work that was done.
    logger: "warn",
    // Those of declared queues too.
    offload,
  });
}
