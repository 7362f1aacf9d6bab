import type { Environment } from "../src/config.ts";
import type { AlarmName } from "./cloudflare/sluice-alarm.ts";
import { type AlarmNamespace, WorkerAlarms } from "./cloudflare/worker-alarms.ts";
import type { AlarmKind } from "../src/deploy/alarms.ts";
import { withOptions } from "../src/deploy/options-of.ts";
import { Deployment, overHttp } from "../src/deploy/deployment.ts";
import type { DashboardOptions, PartOptions } from "../src/deploy/optional-parts.ts";
import type { Platform, ServiceOptions as AnyServiceOptions } from "../src/deploy/options.ts";

export { SluiceAlarm } from "./cloudflare/sluice-alarm.ts";
export * from "../src/deploy/consumer.ts";
export type { AppWith } from "../src/deploy/options-of.ts";
export type { DeploymentTools } from "../src/deploy/service.ts";

/**
 * Options of a deployment. A Worker is one file, so it has the dashboard, the documentation, the deep sweep, strict
 * order and debounce only if they are given.
 * @example
 * import { dashboard } from "sluice-queue/dashboard";
 * import { docs } from "sluice-queue/docs";
 * import { deepSweep } from "sluice-queue/deep-sweep";
 * export default sluice({ dashboard, docs, deepSweep });
 */
export type ServiceOptions<Env = Environment> = Omit<AnyServiceOptions<Env>, keyof PartOptions> & {
  readonly [Name in keyof PartOptions]: Exclude<PartOptions[Name], true | DashboardOptions>;
};

export interface Context {
  waitUntil(promise: Promise<unknown>): void;
}

/** A service binding to the Worker with the consumers. */
interface Fetcher {
  fetch(request: Request): Promise<Response>;
}

const platform: Platform = {
  transport: overHttp,
  // Cloudflare lets work continue for 30 s after the response.
  budget: "25s",
  // A Worker of the free plan may send 50 requests in each invocation; one of a paid plan 10,000.
  // https://developers.cloudflare.com/workers/platform/limits/#subrequests
  requests: 50,
  afterResponse: "bounded",
};

/** What the bindings of a Worker add to its platform. */
function bound(env: {
  readonly SLUICE_CONSUMER?: Fetcher;
  readonly SLUICE_ALARM?: AlarmNamespace;
}): Partial<Platform> {
  const { SLUICE_CONSUMER: consumer, SLUICE_ALARM: alarms } = env;
  return {
    wakeFetch: consumer && ((request) => consumer.fetch(request)),
    // The objects of several deployments that share them are distinguished by the prefix.
    alarms: alarms && ((prefix = "sluice") => new WorkerAlarms(alarms, prefix)),
  };
}

/**
 * Creates a Worker with a whole deployment: the HTTP interface, cron, wakes and consumers. Consumers work in
 * the invocation that enqueued, after its response, and in cron's. Bind `SLUICE_CONSUMER` to a Worker with
 * consumers, such as this one itself, to use as many more invocations as the work needs. Bind `SLUICE_ALARM` to
 * the Durable Object `SluiceAlarm` to start delayed tasks and schedules when they are due, not with the next cron.
 * @example
 * export default sluice({ consumers: { emails: ({ payload }) => send(payload) } });
 */
export function sluice<Env extends object = Environment>(options: ServiceOptions<Env> = {}) {
  const deployment = new Deployment<Env>(options, platform, bound);
  const app = {
    fetch: (request: Request, env: Env, context: Context): Promise<Response> =>
      deployment.fetch(request, env, (promise) => context.waitUntil(promise)),
    scheduled: (_event: unknown, env: Env): Promise<void> => deployment.service(env).cron(),
    /** Handles alarms. `SluiceAlarm` calls it, by RPC; no HTTP request can. */
    async ringSluice(names: readonly AlarmName[], env: Env, context: Context): Promise<void> {
      const service = deployment.service(env);
      const waitUntil = (promise: Promise<unknown>) => context.waitUntil(promise);
      const drains = service.newDrains();
      const ring = (name: AlarmName) => {
        const [kind, queue] = name.split(" ") as [AlarmKind, string];
        return service.ring(kind, queue, waitUntil, drains);
      };
      await Promise.all(names.map(ring));
    },
  };
  // For tests, where all code can be loaded.
  const { docs = false, deepSweep = false, order = false, debounce = false, flows = false } = options;
  const { operations = options.dashboard ? undefined : false } = options;
  const { schedules = options.dashboard || options.operations ? undefined : false } = options;
  const parts = { docs, deepSweep, schedules, order, debounce, flows, operations };
  return withOptions(app, { ...options, ...parts });
}

export default sluice();
