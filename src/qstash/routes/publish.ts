import * as v from "valibot";
import type { RequestContext } from "../../http/services.ts";
import { json } from "../../respond.ts";
import { bodyOf } from "../body.ts";
import { badRequest } from "../failure.ts";
import type { LowerHeaders } from "../publish/headers.ts";
import { publish, type PublishRequest } from "../publish/requests.ts";
import { queueNameOf } from "../kept/queues.ts";
import type { Dialect, DialectApp } from "./dialect.ts";
import { callerOf, readBytes, readJson, destinationOf } from "./requests.ts";

/** `POST /v2/publish/{destination}`, `POST /v2/enqueue/{queue}/{destination}` and `POST /v2/batch`. */
export function publishRoutes(app: DialectApp, dialect: Dialect): void {
  const publishOne = async (c: RequestContext, destination: string, queue?: string) => {
    const headers = Object.fromEntries(c.req.raw.headers) as LowerHeaders;
    const body = bodyOf(await readBytes(c, dialect));
    const request = { destination, queue, headers, ...body, callerIp: callerOf(c) };
    const published = await publish(dialect.session(c), [request]);
    const isKnown = published.flat().every(({ deduplicated }) => deduplicated);
    return json(published[0], isKnown ? 202 : 201);
  };

  app.post("/v2/publish/*", (c) => publishOne(c, destinationOf(c, "publish")));
  app.post("/v2/enqueue/:queue/*", (c) => {
    const queue = queueNameOf(c.req.param("queue"));
    return publishOne(c, destinationOf(c, "enqueue", 1), queue);
  });

  app.post("/v2/batch", async (c) => {
    const parsed = v.safeParse(batch, await readJson(c, dialect));
    if (!parsed.success) {
      const [issue] = parsed.issues;
      throw badRequest(`invalid batch: ${[v.getDotPath(issue), issue.message].filter(Boolean).join(": ")}`);
    }
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
