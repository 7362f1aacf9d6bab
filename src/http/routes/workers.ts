import { json } from "../../respond.ts";
import { readBody, readPath, readQuery, requestOptions } from "../request/read.ts";
import type { App, Services } from "../services.ts";
import { Problem } from "../problems/problem.ts";
import type { ReplyOf } from "../response-schemas/values.ts";
import { reply } from "../responses/reply.ts";
import type * as replies from "../response-schemas/workers.ts";
import * as schemas from "../request-schemas/workers.ts";

/** List workers, record a heartbeat, and fail a worker. */
export function workerRoutes(app: App, services: Services): void {
  const { allow } = services;

  app.get("/v1/queues/:queue/workers", allow("view"), async (c) => {
    const page = readQuery(c, schemas.workersQuery);
    return reply<typeof replies.workers>(await c.get("open").operator().workers(page));
  });

  app.post("/v1/queues/:queue/workers/heartbeat", allow("consume"), async (c) => {
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

  app.post("/v1/queues/:queue/workers/:name/fail", allow("admin"), async (c) => {
    const options = requestOptions(c);
    const { name } = readPath(c, schemas.nameInPath);
    const { incarnation, limit } = await readBody(c, services, schemas.fail, "optional");
    const worker = incarnation === undefined ? name : { name, incarnation: incarnation ?? undefined };
    const failed = await c
      .get("open")
      .operator()
      .failWorker(worker, { limit, ...options });
    return reply<typeof replies.failed>({ name, ...failed });
  });
}
