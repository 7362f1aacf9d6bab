import { hostname } from "node:os";
import type { Environment } from "../src/config.ts";
import { type MountedDeployment, type MountOptions, startMounted } from "../src/deploy/process/mounted.ts";
import { listen } from "../src/deploy/process/node-listener.ts";
import { start } from "../src/deploy/process/process.ts";
import type { Runtime, ServeOptions, Server } from "../src/deploy/process/types.ts";

export * from "../src/deploy/consumer.ts";
export type { DeploymentTools } from "../src/deploy/service.ts";
export type { MountedDeployment, MountOptions } from "../src/deploy/process/mounted.ts";
export type { ServeOptions, Server } from "../src/deploy/process/types.ts";

const node: Runtime = {
  // `docker stop` and Cloud Run kill the process after 10 s, Kubernetes after 30 s.
  // https://docs.docker.com/reference/cli/docker/container/stop/
  grace: "7s",
  host: hostname,
  listen,
};

/**
 * Serves a deployment on Node: the HTTP interface, wakes, consumers, and cron every minute. Needs the package
 * `@hono/node-server`. For `REDIS_URL`, a Redis over TCP, it also needs the package `@redis/client`.
 * @throws {SluiceError} `invalid_argument` for an invalid option, or an incomplete or invalid environment;
 *   `not_installed` if a package is missing
 * @example
 * const { url } = await serve({ consumers: { emails: ({ payload }) => send(payload) } });
 */
export function serve<Env extends object = Environment>(options: ServeOptions<Env> = {}): Promise<Server> {
  return start(node, options);
}

/**
 * Starts a deployment in a process whose HTTP server is the application's, such as Express or Fastify: consumers, and
 * cron every minute. Mount its HTTP interface with `handler` or `fastify`, and close it when the process ends. Needs
 * the same packages as {@link serve}.
 * @throws {SluiceError} `invalid_argument` for an invalid option, or an incomplete or invalid environment;
 *   `not_installed` if a package is missing
 * @example
 * const deployment = await startDeployment({ consumers: [emails.consumer(send)], dashboard: true });
 * app.use("/queue", deployment.handler);
 * const server = app.listen(3000);
 * process.once("SIGTERM", () => deployment.close(server));
 */
export function startDeployment<Env extends object = Environment>(
  options: MountOptions<Env> = {},
): Promise<MountedDeployment> {
  return startMounted(node, options);
}
