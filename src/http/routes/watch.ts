import { milliseconds } from "../../queue/core/duration.ts";
import { forbidden } from "../auth/authenticator.ts";
import { taskNotFound } from "../problems/problem.ts";
import { hasEnded, type TaskEvent, watchTask } from "../../queue/tasks/watch.ts";
import { json, respond } from "../../respond.ts";
import { readPath, readQuery } from "../request/read.ts";
import type { App, Services } from "../services.ts";
import { eventStream, type Frame, lastEventId, wantsEvents } from "../responses/event-stream.ts";
import { longestEvents, longestWait } from "../request-schemas/durations.ts";
import { idInPath } from "../request-schemas/tasks.ts";
import { eventsQuery, taskQuery } from "../request-schemas/watch.ts";
import { taskReply } from "../responses/task-reply.ts";

/** Get, wait for and follow a task, and the stream of a queue's events. */
export function watchRoutes(app: App, services: Services): void {
  const { allow } = services;

  app.get("/v1/queues/:queue/tasks/:id", allow("enqueue", "admin"), async (c) => {
    const { wait, payload } = readQuery(c, taskQuery);
    const { id } = readPath(c, idInPath);
    const queue = c.get("queue");
    if (payload && !c.get("grants").allows("admin", queue.name)) throw forbidden(["admin"], queue.name);
    if (!wantsEvents(c)) {
      const span = milliseconds(wait ?? 0, "wait", { max: longestWait });
      const signal = c.req.raw.signal;
      // Without a wait one read has it all.
      const waited = payload && span === 0 ? null : await queue.wait(id, { for: span, signal });
      const task = payload ? await queue.get(id, { payload, signal }) : waited;
      if (!task) throw taskNotFound();
      return json(taskReply(task));
    }
    const lasts = milliseconds(wait ?? longestWait, "wait", { max: longestWait });
    const after = lastEventId(c);
    let found = await queue.get(id);
    if (!found) throw taskNotFound();
    // The client already received the end. This status keeps a browser from reconnecting.
    if (hasEnded(found) && found.version === after) return respond(null, 204);
    const getTask = async (signal: AbortSignal | undefined) => {
      const task = found ?? (await queue.get(id, { signal }));
      found = null;
      return task;
    };
    return eventStream(c, services, {
      lasts,
      open: (signal) => framesOf(watchTask(getTask, { after, signal })),
    });
  });

  app.get("/v1/queues/:queue/events", allow("admin"), async (c) => {
    const { wait } = readQuery(c, eventsQuery);
    const lasts = milliseconds(wait ?? longestEvents, "wait", { max: longestEvents });
    return eventStream(c, services, {
      lasts,
      open: async (signal) => eventFrames(await c.get("queue").events({ signal })),
    });
  });
}

async function* framesOf(events: AsyncIterable<TaskEvent>): AsyncGenerator<Frame> {
  for await (const { event, ...data } of events) {
    const id = "version" in data ? data.version : undefined;
    yield { event, id, data: "task" in data ? { ...data, task: taskReply(data.task) } : data };
  }
}

async function* eventFrames(published: AsyncIterable<{ readonly event: string }>): AsyncGenerator<Frame> {
  for await (const data of published) yield { event: data.event, data };
}
