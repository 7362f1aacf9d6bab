import { SluiceError } from "../../errors.ts";
import type { Batch } from "../../queue/tasks/leased-task.ts";
import { json } from "../responses/respond.ts";
import { toBase64 } from "../request/base64.ts";
import {
  type App,
  type Call,
  readBody,
  readQuery,
  requestOptions,
  type Services,
} from "../request/context.ts";
import { invalid, Problem } from "../problems/problem.ts";
import type * as replies from "../replies/tasks.ts";
import type { ReplyOf } from "../replies/values.ts";
import * as schemas from "../schemas/tasks.ts";
import { idOf, noTask } from "../replies/task-reply.ts";

/** Everything that is done with the tasks of one queue. */
export function taskRoutes(app: App, services: Services): void {
  const { allow } = services;

  app.post("/v1/queues/:queue/tasks", allow("enqueue"), async (c) => {
    const options = requestOptions(c);
    readQuery(c);
    const body = await readBody(c, services, oneOrMany);
    if ("tasks" in body) {
      const tasks = await c.get("queue").enqueueMany(body.tasks, options);
      const reply: ReplyOf<typeof replies.enqueuedMany> = { tasks };
      return json(reply, tasks.some(({ created }) => created) ? 201 : 200);
    }
    const { payload, ...rest } = body;
    const reply: ReplyOf<typeof replies.enqueued> = await c.get("queue").enqueue(payload, {
      ...rest,
      ...options,
    });
    // Relative to the request, so that it holds wherever the app is mounted.
    const location = `tasks/${encodeURIComponent(reply.id)}`;
    return json(reply, reply.created ? 201 : 200, { location });
  });

  app.post("/v1/queues/:queue/tasks/pull", allow("consume"), async (c) => {
    const options = requestOptions(c);
    readQuery(c);
    const body = await readBody(c, services, schemas.pull, "optional");
    const tasks = await c.get("queue").dequeue({ ...body, ...options, ...whileAsked(c, body) });
    return json(pulledReply(tasks));
  });

  app.post("/v1/queues/:queue/tasks/settle", allow("consume"), async (c) => {
    const options = requestOptions(c);
    readQuery(c);
    const { settlements, pull } = await readBody(c, services, schemas.settle);
    if (!pull) {
      const results = await c.get("queue").settle(settlements, options);
      const reply: ReplyOf<typeof replies.settled> = { results };
      return json(reply);
    }
    const { settled, tasks } = await c
      .get("queue")
      .settleAndDequeue(settlements, { ...pull, ...options, ...whileAsked(c, pull) })
      .catch(throwOfPull);
    const reply: ReplyOf<typeof replies.settled> = { results: settled, pull: pulledReply(tasks) };
    return json(reply);
  });

  app.post("/v1/queues/:queue/tasks/:id/cancel", allow("enqueue"), async (c) => {
    const options = requestOptions(c);
    readQuery(c);
    const id = idOf(c.req.param("id"));
    const body = await readBody(c, services, schemas.cancel, "optional");
    const cancelled = await c.get("queue").cancel(id, { ...body, ...options });
    if (!cancelled.ok) {
      if (cancelled.code === "not_found") throw noTask();
      throw new Problem(cancelled.code);
    }
    const reply: ReplyOf<typeof replies.cancelled> = { id, state: cancelled.state };
    return json(reply);
  });
}

/** A caller who has gone is not waited for: nobody would hold what came. */
function whileAsked(c: Call, { wait }: { readonly wait?: unknown }): { signal?: AbortSignal } {
  return wait === undefined ? {} : { signal: c.req.raw.signal };
}

/** The queue takes the options of the pull as its own: here they are fields of `pull`. */
function throwOfPull(error: unknown): never {
  const isInput = error instanceof SluiceError && error.code === "invalid_argument";
  if (!isInput || error.path === undefined || error.path.startsWith("settlements[")) throw error;
  throw new SluiceError(error.code, `pull.${error.message}`, `pull.${error.path}`);
}

type OneOrMany = typeof schemas.newTask | typeof schemas.newTasks;

/** Chosen before it is checked, so that faults are told of the form that was meant. */
function oneOrMany(body: unknown): OneOrMany {
  if (typeof body !== "object" || body === null || !Object.hasOwn(body, "tasks")) return schemas.newTask;
  const ofOne = Object.keys(body).find((key) => Object.hasOwn(schemas.newTask.entries, key));
  if (ofOne === undefined) return schemas.newTasks;
  throw invalid("tasks", `cannot stand beside ${ofOne}: send either one task or \`tasks\`, not both`);
}

function pulledReply(tasks: Batch<unknown>): ReplyOf<typeof replies.pulled> {
  return {
    tasks: tasks.map(
      ({ id, receipt, payload, attempt, enqueuedAt, deadlineAt, leasedFor, group, headers }) => ({
        id,
        receipt,
        ...(payload instanceof Uint8Array
          ? { payload: toBase64(payload), encoding: "base64" as const }
          : { payload }),
        attempt,
        enqueuedAt,
        deadlineAt,
        leasedFor,
        group,
        headers,
      }),
    ),
    nextDueAt: tasks.nextDueAt,
    paused: tasks.paused,
  };
}
