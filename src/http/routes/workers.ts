import { operatorOf } from "../../open/operator.ts";
import { readBody, readPath, readQuery, requestOptions } from "../request/read.ts";
import type { App, Services } from "../services.ts";
import { reply } from "../responses/reply.ts";
import type * as replies from "../response-schemas/workers.ts";
import * as schemas from "../request-schemas/workers.ts";

/** List workers, and fail one. */
export function workerRoutes(app: App, services: Services): void {
  const { allow } = services;

  app.get("/v1/queues/:queue/workers", allow("view"), async (c) => {
    const page = readQuery(c, schemas.workersQuery);
    return reply<typeof replies.workers>(await operatorOf(c.get("open")).workers(page));
  });

  app.post("/v1/queues/:queue/workers/:name/fail", allow("admin"), async (c) => {
    const options = requestOptions(c);
    const { name } = readPath(c, schemas.nameInPath);
    const { incarnation, limit } = await readBody(c, services, schemas.fail, "optional");
    const worker = incarnation === undefined ? name : { name, incarnation: incarnation ?? undefined };
    const failed = await operatorOf(c.get("open")).failWorker(worker, { limit, ...options });
    return reply<typeof replies.failed>({ name, ...failed });
  });
}
