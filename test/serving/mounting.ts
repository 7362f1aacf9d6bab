import { createServer, type RequestListener, type Server as HttpServer } from "node:http";
import { afterEach } from "vitest";
import { type MountedDeployment, type MountOptions, startDeployment } from "../../serverless/node.ts";
import type { MountedRequest } from "../../src/deploy/process/mounted-request.ts";
import { asker, type CallOptions, tokens } from "../http/served.ts";
import { listening } from "../support/listening.ts";
import { useOwnRedis } from "../support/own-redis.ts";

/** A deployment in a server of the application: what frameworks do to a request is done by hand. */
export function useMounting() {
  const redis = useOwnRedis();
  let deployment: MountedDeployment | undefined;
  let server: HttpServer | undefined;
  afterEach(async () => {
    await deployment?.close(server);
    deployment = server = undefined;
  });

  return {
    redis,
    /** That of the last {@link start}, and the server of the last {@link listen}. */
    deployment: () => deployment as MountedDeployment,
    server: () => server as HttpServer,

    start: async (options: MountOptions = {}) =>
      (deployment = await startDeployment({
        env: { REDIS_URL: redis.url, SLUICE_TOKENS: JSON.stringify(tokens) },
        ...options,
      })),

    /** Serves with a listener, as Node's `createServer`. Returns the address. */
    async listen(listener: RequestListener): Promise<string> {
      server = createServer(listener);
      return `http://127.0.0.1:${await listening(server)}`;
    },
  };
}

/** Mounts at `/queue`, as Express does, after what middleware does to the request. */
export function mount(
  { handler }: MountedDeployment,
  middleware: (request: MountedRequest) => unknown = () => {},
  own: RequestListener = (_, response) => response.writeHead(404).end(),
): RequestListener {
  return (request: MountedRequest, response) => {
    const url = request.url ?? "";
    if (!/^\/queue(?:[/?]|$)/.test(url)) return own(request, response);
    request.originalUrl = url;
    request.url = url.slice("/queue".length).replace(/^(?!\/)/, "/");
    void (async () => {
      await middleware(request);
      handler(request, response);
    })();
  };
}

/** Asks below the mount. */
export const asking = (url: string) => {
  const ask = asker((request) => {
    const { pathname, search } = new URL(request.url);
    const { method, headers, body } = request;
    return fetch(`${url}/queue${pathname}${search}`, {
      method,
      headers,
      body,
      duplex: "half",
    } as RequestInit);
  });
  return (method: string, path: string, options?: CallOptions) => ask(method, path, options);
};
