import type { IncomingMessage } from "node:http";
import { Problem } from "../../http/problems/problem.ts";

/** A request of Node, with what frameworks and their middleware add to it. */
export interface MountedRequest extends IncomingMessage {
  /** Of Express: the URL before it removed the path of the mount. */
  originalUrl?: string;
  /** What middleware made of the body that it read. */
  body?: unknown;
  /** The bytes of the body, if middleware has kept them. The adapter of Node's server takes them. */
  rawBody?: unknown;
  /** Of Express: the application. */
  app?: { get?(setting: string): unknown };
}

/**
 * Keeps the body of a request that middleware has read, such as `express.json()`, as `rawBody`.
 * @returns the problem if the body is lost
 */
export function keepReadBody(incoming: MountedRequest): Problem | undefined {
  const { body, rawBody = body, headers } = incoming;
  if (!incoming.readableDidRead || (rawBody === undefined && !hasBody(headers))) return undefined;
  if (rawBody === undefined) {
    return new Problem("misconfigured", {
      detail: "Middleware has read the body of this request, and left nothing of it. Mount Sluice before it.",
    });
  }
  try {
    const text = typeof rawBody === "string" ? rawBody : JSON.stringify(rawBody);
    incoming.rawBody = Buffer.isBuffer(rawBody) ? rawBody : Buffer.from(text);
    return undefined;
  } catch {
    return new Problem("invalid_json", { detail: "The body is nested too deeply." });
  }
}

function hasBody(headers: IncomingMessage["headers"]): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** The host by which a proxy was called, if the setting `trust proxy` of Express trusts that proxy. */
export function forwardedHost({ app, headers, socket }: MountedRequest): string | undefined {
  const trusts = app?.get?.("trust proxy fn");
  if (typeof trusts !== "function" || trusts(socket.remoteAddress, 0) !== true) return undefined;
  const [host = ""] = String(headers["x-forwarded-host"] ?? "").split(",");
  return host.trim() || undefined;
}

/** The request as if it had come to this host. The dashboard compares it with the `Origin`. */
export function withHost(request: Request, host: string | undefined): Request {
  if (host === undefined || host === request.headers.get("host")) return request;
  const { protocol, pathname, search } = new URL(request.url);
  const url = `${protocol}//${host}${pathname}${search}`;
  if (!URL.canParse(url)) return request;
  const { method, body, signal } = request;
  const headers = new Headers(request.headers);
  headers.set("host", host);
  return new Request(url, { method, headers, body, signal, ...(body && { duplex: "half" }) });
}

/**
 * Where to redirect the path of the mount, if it has no slash at its end: the links of its pages are relative to the
 * path with the slash.
 * @param original the URL before the path of the mount was removed
 */
export function withSlash(original: string): string | undefined {
  const [path = ""] = original.split("?");
  return path.endsWith("/") ? undefined : `${path.split("/").at(-1)}/`;
}
