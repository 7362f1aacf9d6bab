import { readBounded } from "../../bounded-body.ts";
import type { RequestContext } from "../../http/services.ts";
import { respond } from "../../respond.ts";
import { badRequest, Failure, missing } from "../failure.ts";
import type { Dialect } from "./dialect.ts";

/**
 * The destination, which follows the name of a route and so many other words in the path: a URL with a query of its own,
 * as it is; or what else there is, decoded.
 * @throws {Failure} 400
 */
export function destinationOf(c: RequestContext, route: string, words = 0): string {
  const [, rest = ""] = c.req.url.split(new RegExp(`/v2/${route}/(?:[^/]*/){${words}}(.*)`, "s"));
  if (/^https?:/i.test(rest)) return rest;
  const [path = ""] = rest.split(/[?#]/, 1);
  try {
    return decodeURIComponent(path);
  } catch {
    throw badRequest(`invalid destination: ${path}`);
  }
}

/**
 * QStash takes its token and its headers from the query, too. A URL with them would get the token, and be called without
 * what the headers say.
 * @throws {Failure} 501
 */
export function checkQuery({ req }: RequestContext): void {
  for (const name of new URL(req.url).searchParams.keys())
    if (/^(?:qstash_token$|upstash-)/i.test(name))
      throw missing(`${name} in the query`, "send the token and all settings as headers");
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
