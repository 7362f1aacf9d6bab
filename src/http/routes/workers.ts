import { WorkerOperator } from "../../queue/operate/worker-operator.ts";
import { json } from "../responses/respond.ts";
import {
  type App,
  type Call,
  readBody,
  readQuery,
  requestOptions,
  type Services,
} from "../request/context.ts";
import { Problem } from "../problems/problem.ts";
import type { ReplyOf } from "../replies/values.ts";
import type * as replies from "../replies/workers.ts";
import * as schemas from "../schemas/workers.ts";
import { validate } from "../request/validate.ts";

/** The workers of a queue: their signs of life, who works on what, and failing one. */
export function workerRoutes(app: App, services: Services): void {
  const { allow } = services;
  const operator = (c: Call) => new WorkerOperator(c.get("queue").name, services);

  app.get("/v1/queues/:queue/workers", allow("admin"), async (c) => {
    const page = readQuery(c, schemas.workersQuery);
    const reply: ReplyOf<typeof replies.workers> = await operator(c).workers(page);
    return json(reply);
  });

  app.post("/v1/queues/:queue/workers/heartbeat", allow("consume"), async (c) => {
    const options = requestOptions(c);
    readQuery(c);
    const { worker, ...told } = await readBody(c, services, schemas.heartbeat);
    const heartbeat = await c.get("queue").heartbeat(worker, { ...told, ...options });
    if (!heartbeat.ok) throw new Problem(heartbeat.code);
    const { ok: _, ...reply } = heartbeat satisfies ReplyOf<typeof replies.heartbeat>;
    return json(reply);
  });

  app.post("/v1/queues/:queue/workers/:name/fail", allow("admin"), async (c) => {
    const options = requestOptions(c);
    readQuery(c);
    const { name } = validate(schemas.nameInPath, { name: c.req.param("name") });
    const { incarnation, limit } = await readBody(c, services, schemas.fail, "optional");
    const which = incarnation === undefined ? name : { name, incarnation: incarnation ?? undefined };
    const failed = await operator(c).failWorker(which, { limit, ...options });
    const reply: ReplyOf<typeof replies.failed> = { name, ...failed };
    return json(reply);
  });
}
