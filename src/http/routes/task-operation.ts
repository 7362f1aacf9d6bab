import { operatorOf } from "../../open/operator.ts";
import type { RejectReason, TaskState } from "../../kernel/options/types.ts";
import { budgetOf, readBody, readPath, readQuery, requestOptions } from "../request/read.ts";
import type { App, RequestContext, Services } from "../services.ts";
import { payloadsHidden } from "../auth/authenticator.ts";
import type { Scope } from "../auth/tokens.ts";
import { Problem, taskNotFound } from "../problems/problem.ts";
import type * as replies from "../response-schemas/task-operation.ts";
import { reply } from "../responses/reply.ts";
import * as schemas from "../request-schemas/task-operation.ts";
import { idInPath } from "../request-schemas/tasks.ts";
import { hidePayloads, taskReply } from "../responses/task-reply.ts";

/** List, delete, redrive and purge tasks, cancel several, and count dead letters. */
export function taskOperationRoutes(app: App, services: Services): void {
  const { allow } = services;
  const operator = (c: RequestContext) => operatorOf(c.get("open"));

  app.get("/v1/queues/:queue/tasks", allow("view"), async (c) => {
    const { reason, ...options } = readQuery(c, schemas.tasksQuery);
    const reasons = reason?.split(",") as RejectReason[] | undefined;
    const hides = hidesPayloads(c, "view", options);
    // Not even read, because the size of a page depends on the sizes of its payloads.
    const payloads = hides ? false : options.payloads;
    const { tasks, ...page } = await operator(c).list({ ...options, payloads, reason: reasons });
    const visible = hides ? tasks.map(hidePayloads) : tasks;
    return reply<typeof replies.listedPage>({ tasks: visible.map(taskReply), ...page });
  });

  app.get("/v1/queues/:queue/dead-letters", allow("view"), async (c) => {
    const { reason, ...options } = readQuery(c, schemas.deadLettersQuery);
    const reasons = reason?.split(",") as RejectReason[] | undefined;
    return reply<typeof replies.deadLetters>(await operator(c).deadLetters({ ...options, reason: reasons }));
  });

  app.post("/v1/queues/:queue/tasks/cancel", allow("enqueue"), async (c) => {
    const options = requestOptions(c);
    const { ids } = await readBody(c, services, schemas.cancelMany);
    return reply<typeof replies.cancelledMany>({ results: await operator(c).cancelMany(ids, options) });
  });

  app.post("/v1/queues/:queue/tasks/delete", allow("admin"), async (c) => {
    const options = requestOptions(c);
    const { ids } = await readBody(c, services, schemas.deleteMany);
    return reply<typeof replies.deletedMany>({ results: await operator(c).removeMany(ids, options) });
  });

  app.delete("/v1/queues/:queue/tasks/:id", allow("admin"), async (c) => {
    const options = requestOptions(c);
    const { id } = readPath(c, idInPath);
    const removed = await operator(c).remove(id, options);
    if (!removed.ok) throw removed.code === "not_found" ? taskNotFound() : new Problem(removed.code);
    return reply<typeof replies.taskDeleted>({ id, deleted: true });
  });

  app.post("/v1/queues/:queue/redrive", allow("admin"), async (c) => {
    const options = requestOptions(c);
    const { budget, ...body } = await readBody(c, services, schemas.redrive);
    const run = { ...body, ...options, budget: budgetOf(services, budget) };
    return reply<typeof replies.redriven>(await operator(c).redrive(run));
  });

  app.post("/v1/queues/:queue/purge", allow("admin"), async (c) => {
    const options = requestOptions(c);
    const { budget, ...body } = await readBody(c, services, schemas.purge);
    hidesPayloads(c, "admin", body);
    const run = { ...body, ...options, budget: budgetOf(services, budget) };
    return reply<typeof replies.purged>(await operator(c).purge(run));
  });
}

/**
 * Whether payloads are hidden from the caller.
 * @throws {Problem} `forbidden` if they are, and the filter searches results: the answer would show parts of them
 */
function hidesPayloads(
  c: RequestContext,
  scope: Scope,
  { state, text }: { readonly state: TaskState; readonly text?: string },
): boolean {
  const hides = c.get("grants").hidesPayloads(c.get("open").name, scope);
  if (!hides || state !== "completed" || text === undefined) return hides;
  throw payloadsHidden("The text of completed tasks is that of their results, which the token hides.");
}
