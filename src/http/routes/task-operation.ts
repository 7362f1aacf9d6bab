import { TaskOperator } from "../../queue/operate/task-operator.ts";
import type { RejectReason } from "../../queue/core/types.ts";
import { json } from "../../respond.ts";
import { budgetOf, readBody, readPath, readQuery, requestOptions } from "../request/read.ts";
import type { App, RequestContext, Services } from "../services.ts";
import { Problem, taskNotFound } from "../problems/problem.ts";
import type * as replies from "../response-schemas/task-operation.ts";
import type { ReplyOf } from "../response-schemas/values.ts";
import * as schemas from "../request-schemas/task-operation.ts";
import { idInPath } from "../request-schemas/tasks.ts";
import { taskReply } from "../responses/task-reply.ts";

/** List, delete, redrive and purge tasks. */
export function taskOperationRoutes(app: App, services: Services): void {
  const { allow, wakerOf } = services;
  const operator = (c: RequestContext) =>
    new TaskOperator(c.get("queue").name, { ...services, wake: wakerOf(c) });

  app.get("/v1/queues/:queue/tasks", allow("admin"), async (c) => {
    const { reason, ...options } = readQuery(c, schemas.tasksQuery);
    const reasons = reason?.split(",") as RejectReason[] | undefined;
    const { tasks, ...page } = await operator(c).list({ ...options, reason: reasons });
    const reply: ReplyOf<typeof replies.listedPage> = { tasks: tasks.map(taskReply), ...page };
    return json(reply);
  });

  app.delete("/v1/queues/:queue/tasks/:id", allow("admin"), async (c) => {
    const options = requestOptions(c);
    readQuery(c);
    const { id } = readPath(c, idInPath);
    const removed = await operator(c).remove(id, options);
    if (!removed.ok) throw removed.code === "not_found" ? taskNotFound() : new Problem(removed.code);
    const reply: ReplyOf<typeof replies.taskDeleted> = { id, deleted: true };
    return json(reply);
  });

  app.post("/v1/queues/:queue/redrive", allow("admin"), async (c) => {
    const options = requestOptions(c);
    readQuery(c);
    const { budget, ...body } = await readBody(c, services, schemas.redrive);
    const reply: ReplyOf<typeof replies.redriven> = await operator(c).redrive({
      ...body,
      ...options,
      budget: budgetOf(services, budget),
    });
    return json(reply);
  });

  app.post("/v1/queues/:queue/purge", allow("admin"), async (c) => {
    const options = requestOptions(c);
    readQuery(c);
    const { budget, ...body } = await readBody(c, services, schemas.purge);
    const reply: ReplyOf<typeof replies.purged> = await operator(c).purge({
      ...body,
      ...options,
      budget: budgetOf(services, budget),
    });
    return json(reply);
  });
}
