import { SluiceError } from "../../errors.ts";
import type { DequeueOptions } from "../../kernel/options/types.ts";
import type { Batch } from "../../kernel/lease/leased-task.ts";
import type { Queue } from "../../open/queue.ts";
import { json } from "../../respond.ts";
import { readBody, readPath, requestOptions } from "../request/read.ts";
import type { App, RequestContext, Services } from "../services.ts";
import { payloadsHidden } from "../auth/authenticator.ts";
import { invalid, Problem, taskNotFound } from "../problems/problem.ts";
import type * as replies from "../response-schemas/tasks.ts";
import type { ReplyOf } from "../response-schemas/values.ts";
import { isOff } from "../parts.ts";
import { reply } from "../responses/reply.ts";
import { fieldOf } from "../responses/task-reply.ts";
import * as schemas from "../request-schemas/tasks.ts";

const OFF = isOff("cannot debounce, throttle or replace tasks", "debounce");

const keyed = ({ debounce }: Services, queue: Queue) => {
  if (!debounce) throw new Problem("unsupported", { detail: OFF });
  return debounce.withDebounce(queue);
};

/** Enqueue, pull, settle and cancel. */
export function taskRoutes(app: App, services: Services): void {
  const { allow } = services;

  app.post("/v1/queues/:queue/tasks", allow("enqueue"), async (c) => {
    const options = requestOptions(c);
    const body = await readBody(c, services, newTaskSchema);
    if ("tasks" in body) {
      const tasks = await c.get("open").queue().enqueueMany(body.tasks, options);
      return reply<typeof replies.enqueuedMany>({ tasks }, tasks.some(({ created }) => created) ? 201 : 200);
    }
    const { payload, ...rest } = body;
    const queue = c.get("open").queue();
    const { debounce, throttle, singleton, replace } = rest;
    const isKeyed = [debounce, throttle, singleton, replace].some((option) => option !== undefined);
    const enqueued = await (isKeyed
      ? keyed(services, queue).enqueue(payload, { ...rest, ...options })
      : queue.enqueue(payload, { ...rest, ...options }));
    // Relative to the request, so that it is right wherever the app is mounted.
    const location = `tasks/${encodeURIComponent(enqueued.id)}`;
    return reply<typeof replies.enqueuedOne>(enqueued, enqueued.created ? 201 : 200, { location });
  });

  app.delete("/v1/queues/:queue/keys/:key", allow("enqueue"), async (c) => {
    const options = requestOptions(c);
    const { key } = readPath(c, schemas.keyInPath);
    const queue = c.get("open").queue();
    const known = await keyed(services, queue).forgetKey(key, options);
    return reply<typeof replies.keyForgotten>({ key, known });
  });

  app.post("/v1/queues/:queue/tasks/pull", allow("consume"), async (c) => {
    const options = requestOptions(c);
    requirePayloads(c);
    const body = await readBody(c, services, schemas.pull, "optional");
    const tasks = await c
      .get("open")
      .queue()
      .dequeue(whileConnected(c, { ...body, ...options }));
    return json(pulledReply(tasks));
  });

  app.post("/v1/queues/:queue/tasks/settle", allow("consume"), async (c) => {
    const options = requestOptions(c);
    const { settlements, pull } = await readBody(c, services, schemas.settle);
    if (!pull) {
      const results = await c.get("open").queue().settle(settlements, options);
      return reply<typeof replies.settled>({ results });
    }
    requirePayloads(c);
    const { settled, tasks } = await c
      .get("open")
      .queue()
      .settleAndDequeue(settlements, whileConnected(c, { ...pull, ...options }))
      .catch(throwWithPullPath);
    return reply<typeof replies.settled>({ results: settled, pull: pulledReply(tasks) });
  });

  app.post("/v1/queues/:queue/tasks/:id/cancel", allow("enqueue"), async (c) => {
    const options = requestOptions(c);
    const { id } = readPath(c, schemas.idInPath);
    const body = await readBody(c, services, schemas.cancel, "optional");
    const cancelled = await c
      .get("open")
      .queue()
      .cancel(id, { ...body, ...options });
    if (!cancelled.ok) {
      if (cancelled.code === "not_found") throw taskNotFound();
      throw new Problem(cancelled.code);
    }
    return reply<typeof replies.cancelled>({ id, state: cancelled.state });
  });
}

/**
 * Refuses a pull if payloads are hidden from the caller: it would lease tasks that the caller cannot work on.
 * @throws {Problem} `forbidden`
 */
function requirePayloads(c: RequestContext): void {
  if (!c.get("grants").hidesPayloads(c.get("open").name, "consume")) return;
  throw payloadsHidden("A pull returns payloads, which the token hides.");
}

/**
 * A pull ends when the caller disconnects, because no one would receive its tasks. One that does not wait, and that
 * the caller can send again, goes on: the caller then gets its tasks.
 */
function whileConnected(c: RequestContext, options: DequeueOptions): DequeueOptions {
  const { wait, token, idempotencyKey } = options;
  const canBeSentAgain = token !== undefined || idempotencyKey !== undefined;
  return wait === undefined && canBeSentAgain ? options : { ...options, signal: c.req.raw.signal };
}

/** Adds `pull.` to the path of an error in the options of the pull, which are fields of `pull` here. */
function throwWithPullPath(error: unknown): never {
  const isInput = error instanceof SluiceError && error.code === "invalid_argument";
  if (!isInput || error.path === undefined || error.path.startsWith("settlements[")) throw error;
  throw new SluiceError(error.code, `pull.${error.message}`, `pull.${error.path}`);
}

type NewTaskSchema = typeof schemas.newSingleTask | typeof schemas.newTasks;

/** Chooses the schema before the check, so that the errors are those of the form that the caller means. */
function newTaskSchema(body: unknown): NewTaskSchema {
  if (typeof body !== "object" || body === null || !Object.hasOwn(body, "tasks"))
    return schemas.newSingleTask;
  const taskField = Object.keys(body).find((key) => Object.hasOwn(schemas.newSingleTask.entries, key));
  if (taskField === undefined) return schemas.newTasks;
  throw invalid("tasks", `must not be sent with ${taskField}: send either one task or \`tasks\``);
}

function pulledReply(tasks: Batch<unknown>): ReplyOf<typeof replies.pulled> {
  return {
    tasks: tasks.map(
      ({ id, receipt, payload, attempt, enqueuedAt, deadlineAt, leasedFor, group, headers }) => ({
        id,
        receipt,
        ...fieldOf(payload, "payload", "encoding"),
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
