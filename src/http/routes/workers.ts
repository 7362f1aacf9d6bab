import { operatorOf } from "../../open/operator.ts";
import { Problem } from "../problems/problem.ts";
import { readBody, readPath, readQuery, requestOptions } from "../request/read.ts";
import type { App, Services } from "../services.ts";
import { reply } from "../responses/reply.ts";
import type * as replies from "../response-schemas/workers.ts";
import * as schemas from "../request-schemas/workers.ts";

/** List workers, fail one, and forget one. */
export function workerRoutes(app: App, services: Services): void {
  const { allow } = services;

  app.get("/v1/queues/:queue/workers", allow("view"), async (c) => {
    const page = readQuery(c, schemas.workersQuery);
    return reply<typeof replies.workers>(await operatorOf(c.get("open")).workers(page));
  });

  app.delete("/v1/queues/:queue/workers/:name", allow("admin"), async (c) => {
    const { incarnation, ...options } = requestOptions(c, schemas.forgetQuery);
    const { name } = readPath(c, schemas.nameInPath);
    const forgotten = await operatorOf(c.get("open")).forgetWorker({ name, incarnation }, options);
    if (!forgotten.ok) {
      const detail = `${forgotten.working} tasks of the worker are working. If it is dead, take them back first, with \`fail\`.`;
      throw new Problem(forgotten.code, { detail });
    }
    return reply<typeof replies.forgotten>({ name, forgotten: true });
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
