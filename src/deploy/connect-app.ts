import type { DeploymentTools } from "./service.ts";

/**
 * The property of an app by which a test connects the `queue` and `schedules` that it exports. Global, because an app
 * may come from another bundle.
 */
const CONNECT = Symbol.for("sluice-queue.connect");

/**
 * Lets a test connect an app whose `queue` and `schedules` code uses outside of its handlers.
 * @param connect makes them those of the test
 */
export function withConnect<App extends object, Env extends object>(
  app: App,
  connect: (tools: DeploymentTools<Env>) => void,
): App {
  return Object.defineProperty(app, CONNECT, { value: connect });
}

/** Makes the `queue` and `schedules` of an app, if it exports them, those of a test. */
export function connectApp<Env extends object>(app: object, tools: DeploymentTools<Env>): void {
  (app as { readonly [CONNECT]?: (tools: DeploymentTools<Env>) => void })?.[CONNECT]?.(tools);
}
