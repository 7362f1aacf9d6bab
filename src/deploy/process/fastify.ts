import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { ClosableServer } from "./node-listener.ts";

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
  readonly raw: IncomingMessage | Http2ServerRequest;
  readonly host: string;
}

interface FastifyReply {
  readonly raw: ServerResponse | Http2ServerResponse;
  hijack(): unknown;
}

/** A plugin for `register` of Fastify. */
export type FastifyPlugin = (scope: FastifyScope) => Promise<void>;

/**
 * Makes the plugin of a deployment.
 * @param answer answers a request. Its `url` is below the prefix, `original` is the URL that was asked for
 * @param close closes the server and the deployment
 */
export function fastifyPlugin(
  answer: (
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    asked: { original: string; host: string },
  ) => void,
  close: (server: ClosableServer) => Promise<void>,
): FastifyPlugin {
  return async (scope) => {
    // The bodies stay unread, in this scope alone.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _body, read) => read(null));
    const handler = ({ raw, host }: FastifyRequest, reply: FastifyReply) => {
      reply.hijack();
      const original = raw.url ?? "/";
      raw.url = urlBelow(scope.prefix, original);
      answer(raw as IncomingMessage, reply.raw as ServerResponse, { original, host });
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
