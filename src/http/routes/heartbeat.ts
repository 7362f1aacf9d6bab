import { json } from "../../respond.ts";
import { readBody, requestOptions } from "../request/read.ts";
import type { App, Services } from "../services.ts";
import { Problem } from "../problems/problem.ts";
import type { ReplyOf } from "../response-schemas/values.ts";
import type * as replies from "../response-schemas/workers.ts";
import * as schemas from "../request-schemas/workers.ts";

/** Records a heartbeat. */
export function heartbeatRoutes(app: App, services: Services): void {
  app.post("/v1/queues/:queue/workers/heartbeat", services.allow("consume"), async (c) => {
    const options = requestOptions(c);
    const { worker, ...fields } = await readBody(c, services, schemas.heartbeat);
    const heartbeat = await c
      .get("open")
      .queue()
      .heartbeat(worker, { ...fields, ...options });
    if (!heartbeat.ok) throw new Problem(heartbeat.code);
    const { ok: _, ...reply } = heartbeat satisfies ReplyOf<typeof replies.heartbeat>;
    return json(reply);
  });
}
