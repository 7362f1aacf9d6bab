import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Environment } from "../../config.ts";
import { keepOwnRequest } from "../../http/own-request.ts";
import { problemResponse } from "../../http/problems/problem.ts";
import { onlyOptions } from "../../kernel/options/validation.ts";
import { markLengthEnforced } from "../../bounded-body.ts";
import { respond } from "../../respond.ts";
import { SERVICE_OPTIONS } from "../options.ts";
import { PendingWork } from "../pending-work.ts";
import { mountOf, withLinksBelow } from "../problem-links.ts";
import { type Answer, type FastifyPlugin, fastifyPlugin } from "./fastify.ts";
import { forwardedHost, keepReadBody, type MountedRequest, withHost, withSlash } from "./mounted-request.ts";
import { loadNodeServer, stopServer } from "./node-listener.ts";
import type { ClosableServer, NodeRequest, NodeResponse } from "./node-types.ts";
import { start } from "./process.ts";
import type { Runtime, ServeOptions, Server } from "./types.ts";
import { UnusedConnections } from "./unused-connections.ts";

/** Options of a deployment in a process whose HTTP server is the application's: those of a server without its port. */
export type MountOptions<Env extends object = Environment> = Omit<
  ServeOptions<Env>,
  "fetch" | "port" | "hostname" | "signals"
>;

/**
 * A deployment that runs in this process, and listens nowhere. `handler`, `fastify` and `fetch` answer the paths of
 * Sluice, such as `/v1/…` and `/dashboard`, below the path where they are mounted. `queue`, `schedules` and `topic` are those of
 * the {@link DeploymentTools}: an enqueue starts the queue's consumer here.
 */
export interface MountedDeployment extends Pick<
  Server,
  "queue" | "schedules" | "topic" | "tools" | "operator"
> {
  /**
   * Answers a request of Node's HTTP server, of Express, or of what takes the same handlers.
   * @example app.use("/queue", deployment.handler)
   */
  readonly handler: (request: NodeRequest, response: NodeResponse) => void;
  /**
   * A plugin for Fastify. `app.close()` closes the deployment too.
   * @example await app.register(deployment.fastify, { prefix: "/queue" })
   */
  readonly fastify: FastifyPlugin;
  /**
   * Answers a request whose URL is without the path of the mount.
   * @param mount its `path`, which the links of problems get. @default none
   * @example app.mount("/queue", (request) => deployment.fetch(request, { path: "/queue" }))
   */
  readonly fetch: (request: Request, mount?: { readonly path?: string }) => Promise<Response>;
  /**
   * Closes the deployment: takes no more tasks, hands back tasks that are not started, waits up to `grace` for running
   * work and open requests, and closes the connection to Redis. A second call waits for the same end.
   * @param server the HTTP server of the application. It is closed too, so that its requests may still enqueue: it
   *   accepts no more connections, and the deployment waits for all of its requests
   */
  close(server?: ClosableServer): Promise<void>;
}

const OPTIONS = [
  ...SERVICE_OPTIONS.filter((name) => name !== "fetch"),
  "env",
  "every",
  "grace",
  "worker",
] as const satisfies readonly (keyof MountOptions)[];

/** Starts a deployment in a process whose HTTP server is the application's. */
export async function startMounted<Env extends object>(
  runtime: Omit<Runtime, "listen">,
  options: MountOptions<Env>,
): Promise<MountedDeployment> {
  onlyOptions(options, OPTIONS);
  const { getRequestListener } = await loadNodeServer("startDeployment()");
  const openRequests = new PendingWork();
  const openResponses = new Set<ServerResponse>();
  let fetch = async (_: Request): Promise<Response> => respond(null, 503);
  let application: ClosableServer | undefined;

  const listen: Runtime["listen"] = async (handle) => {
    const unused = new UnusedConnections();
    const closed = fetch;
    fetch = handle;
    return {
      port: 0,
      async stop() {
        await (application ? stopServer(application, unused) : openRequests.settled());
        unused.end();
        fetch = closed;
      },
      drop() {
        fetch = closed;
        application?.closeAllConnections?.();
        for (const response of openResponses) response.destroy();
      },
    };
  };
  const started = await start({ ...runtime, listen }, { ...options, port: 0, signals: false });

  const answer: Answer = (request, response, { original, host, own: ofFramework }) => {
    const [incoming, outgoing] = [request as MountedRequest, response as ServerResponse];
    const path = mountOf(original, incoming.url ?? "/");
    const problem = keepReadBody(incoming);
    // The sender may have left while middleware worked: it closes only once.
    if (!outgoing.closed) {
      openResponses.add(outgoing);
      openRequests.add(once(outgoing, "close").finally(() => openResponses.delete(outgoing)));
    }
    const respondTo = async (asked: Request): Promise<Response> => {
      if (problem) return withLinksBelow(path, problemResponse(problem));
      const folder = withSlash(original);
      if (folder !== undefined && new URL(asked.url).pathname === "/") {
        return respond(null, 308, { location: folder });
      }
      const own = withHost(asked, host);
      markLengthEnforced(own);
      keepOwnRequest(own, ofFramework);
      return withLinksBelow(path, await fetch(own));
    };
    // The globals are the application's.
    void getRequestListener(respondTo, { overrideGlobalObjects: false })(incoming, outgoing);
  };

  const close = (server?: ClosableServer): Promise<void> => {
    application ??= server;
    return started.close();
  };
  return {
    queue: started.queue,
    schedules: started.schedules,
    topic: started.topic,
    get tools() {
      return started.tools;
    },
    operator: started.operator,
    close,
    fetch: (request, { path = "" } = {}) => {
      const response = fetch(request).then((answered) => withLinksBelow(path, answered));
      openRequests.add(response);
      return response;
    },
    handler(request, response) {
      const { originalUrl, url = "/" } = request as MountedRequest;
      const host = forwardedHost(request as MountedRequest);
      answer(request, response, { original: originalUrl ?? url, host, own: request });
    },
    fastify: fastifyPlugin(answer, close),
  };
}
