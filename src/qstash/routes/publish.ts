import * as v from "valibot";
import { readBounded } from "../../bounded-body.ts";
import type { RequestContext } from "../../http/services.ts";
import { json } from "../../respond.ts";
import { bodyOf } from "../body.ts";
import { badRequest, Failure } from "../failure.ts";
import type { LowerHeaders } from "../headers.ts";
import { publish, type PublishRequest } from "../publish.ts";
import type { Dialect, DialectApp } from "./dialect.ts";

/** `POST /v2/publish/{destination}`, `POST /v2/enqueue/{queue}/{destination}` and `POST /v2/batch`. */
export function publishRoutes(app: DialectApp, dialect: Dialect): void {
  const publishOne = async (c: RequestContext, destination: string, queue?: string) => {
    const headers = Object.fromEntries(c.req.raw.headers) as LowerHeaders;
    const body = bodyOf(await readBytes(c, dialect));
    const request = { destination, queue, headers, ...body, callerIp: callerOf(c) };
    const [published] = await publish(dialect.session(c), [request]);
    return json(published, 201);
  };

  app.post("/v2/publish/*", (c) => publishOne(c, restOf(c, "publish")));
  app.post("/v2/enqueue/:queue/*", (c) => {
    const queue = queueNameOf(c.req.param("queue"));
    return publishOne(c, restOf(c, "enqueue").replace(/^[^/]*\//, ""), queue);
  });

  app.post("/v2/batch", async (c) => {
    const parsed = v.safeParse(batch, await readJson(c, dialect));
    if (!parsed.success) throw badRequest(`invalid batch: ${parsed.issues[0].message}`);
    const requests = parsed.output.map(({ destination, headers = {}, body, queue }): PublishRequest => {
      const lower = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
      );
      return {
        destination,
        headers: lower,
        body: body || undefined,
        queue: queue && queueNameOf(queue),
        callerIp: callerOf(c),
      };
    });
    return json(await publish(dialect.session(c), requests));
  });
}

const batch = v.array(
  v.object({
    destination: v.string(),
    headers: v.optional(v.record(v.string(), v.string())),
    body: v.optional(v.nullish(v.string())),
    queue: v.optional(v.string()),
  }),
);

/** The name of a queue of QStash, which is a group here. @throws {Failure} 400 */
export function queueNameOf(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(name)) return name;
  throw badRequest(
    `invalid queue name: ${name}; it must be 1 to 128 of A-Z a-z 0-9 . _ -, and begin with a letter or a digit`,
  );
}

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
