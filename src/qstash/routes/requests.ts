import { readBounded } from "../../bounded-body.ts";
import type { RequestContext } from "../../http/services.ts";
import { respond } from "../../respond.ts";
import { badRequest, Failure } from "../failure.ts";
import type { Dialect } from "./dialect.ts";

/** What follows the name of a route in the path, with the query: a destination is a URL with a query of its own. */
export function restOf(c: RequestContext, route: string): string {
  const [, rest = ""] = c.req.url.split(new RegExp(`/v2/${route}/(.*)`, "s"));
  return /^https?:/i.test(rest) || route === "enqueue"
    ? rest
    : decodeURIComponent(rest.replace(/[?#].*/s, ""));
}

/** The address that the server in front says is the caller's. */
export function callerOf({ req }: RequestContext): string | undefined {
  return (
    req.header("cf-connecting-ip") ??
    req.header("x-real-ip") ??
    req.header("x-forwarded-for")?.split(",", 1)[0]
  );
}

/** @throws {Failure} 400, 413 */
export async function readBytes(c: RequestContext, { bodyBounds }: Dialect): Promise<Uint8Array> {
  const read = await readBounded(c.req.raw, bodyBounds);
  if (read instanceof Uint8Array) return read;
  throw read === "too_large"
    ? new Failure(413, `the body has more than ${bodyBounds.limit} bytes`)
    : badRequest("the body did not arrive");
}

/** @throws {Failure} 400, 413 */
export async function readJson(c: RequestContext, dialect: Dialect): Promise<unknown> {
  const bytes = await readBytes(c, dialect);
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw badRequest("the body is not JSON");
  }
}

/** The response to a call that the client reads nothing of. */
export const done = (): Response => respond(null, 200);
