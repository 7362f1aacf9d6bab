import type { ClosableServer, NodeRequest, NodeResponse } from "./node-types.ts";

/** What is used of Fastify within the scope of a plugin. */
export interface FastifyScope {
  readonly prefix: string;
  readonly server: ClosableServer;
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    type: string,
    parser: (request: unknown, body: unknown, done: (error: null) => void) => void,
  ): unknown;
  all(path: string, handler: (request: FastifyRequest, reply: FastifyReply) => void): unknown;
  addHook(name: "preClose", hook: () => Promise<void>): unknown;
}

interface FastifyRequest {
  readonly raw: NodeRequest;
  readonly host: string;
}

interface FastifyReply {
  readonly raw: NodeResponse;
  hijack(): unknown;
}

/** A plugin for `register` of Fastify. */
export type FastifyPlugin = (scope: FastifyScope) => Promise<void>;

/**
 * Answers a request, whose `url` is below the path of the mount.
 * @param original the URL that was asked for
 * @param host the host that was asked for, if a framework says so
 * @param own the request of the framework
 */
export type Answer = (
  request: NodeRequest,
  response: NodeResponse,
  asked: { readonly original: string; readonly host: string | undefined; readonly own: object },
) => void;

/**
 * Makes the plugin of a deployment.
 * @param close closes the server and the deployment
 */
export function fastifyPlugin(
  answer: Answer,
  close: (server: ClosableServer) => Promise<void>,
): FastifyPlugin {
  return async (scope) => {
    // The bodies stay unread, in this scope alone.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _body, read) => read(null));
    const handler = (own: FastifyRequest, reply: FastifyReply) => {
      const { raw, host } = own;
      reply.hijack();
      const original = raw.url ?? "/";
      raw.url = urlBelow(scope.prefix, original);
      answer(raw, reply.raw, { original, host, own });
      raw.url = original;
    };
    scope.all("/", handler);
    scope.all("/*", handler);
    scope.addHook("preClose", () => close(scope.server));
  };
}

/** The URL of a request below a prefix, whose parts may be parameters. */
function urlBelow(prefix: string, url: string): string {
  const parts = prefix.replace(/\/$/, "").split("/").length;
  return `/${url.split("/").slice(parts).join("/")}`;
}
