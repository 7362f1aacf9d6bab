import { Problem } from "../problems/problem.ts";
import type { RequestContext } from "../services.ts";

/**
 * Refuses requests that a page of another origin may have sent. The cookie is `SameSite=Strict`, but that lets
 * through other hosts of the same site.
 * @throws {Problem} `foreign_origin`
 */
export function requireOwnOrigin(c: RequestContext): void {
  const site = c.req.header("sec-fetch-site");
  const reads = c.req.method === "GET" || c.req.method === "HEAD";
  // `none`: a person entered the address.
  if (site !== undefined && site !== "same-origin" && !(reads && site === "none")) {
    throw new Problem("foreign_origin");
  }
  if (reads) return;
  // The scheme is not compared: behind a proxy that ends TLS, it is http here.
  const own = c.req.header("host") ?? new URL(c.req.url).host;
  if (hostOf(c.req.header("origin")) === own.toLowerCase()) return;
  throw new Problem("foreign_origin", {
    detail: `The Origin of the request must have the host ${own}, by which this server is called. A proxy in front of it must keep the Host header.`,
  });
}

/** The host of an origin, with its port if that is not the default one; undefined if it is no origin. */
function hostOf(origin: string | undefined): string | undefined {
  if (!/^https?:\/\/[^/?#@\\]+$/i.test(origin ?? "")) return undefined;
  try {
    return new URL(origin ?? "").host;
  } catch {
    return undefined;
  }
}
