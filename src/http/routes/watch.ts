import { milliseconds } from "../../queue/core/duration.ts";
import { hasEnded, type TaskEvent, watchTask } from "../../queue/tasks/watch.ts";
import { json, respond } from "../responses/respond.ts";
import { type App, readQuery, type Services } from "../request/context.ts";
import { eventStream, type Frame, lastEventId, wantsEvents } from "../responses/event-stream.ts";
import { longestEvents, longestWatch } from "../schemas/durations.ts";
import { eventsQuery, taskQuery } from "../schemas/watch.ts";
import { idOf, noTask, taskReply } from "../replies/task-reply.ts";

/** Looking at a task until it ends, and at what happens in a queue. */
export function watchRoutes(app: App, services: Services): void {
  const { allow } = services;

  app.get("/v1/queues/:queue/tasks/:id", allow("enqueue"), async (c) => {
    const { wait } = readQuery(c, taskQuery);
    const id = idOf(c.req.param("id"));
    const queue = c.get("queue");
    if (!wantsEvents(c)) {
      const span = milliseconds(wait ?? 0, "wait", { max: longestWatch });
      const task = await queue.wait(id, { for: span, signal: c.req.raw.signal });
      if (!task) throw noTask();
      return json(taskReply(task));
    }
    const lasts = milliseconds(wait ?? longestWatch, "wait", { max: longestWatch });
    const after = lastEventId(c);
    let found = await queue.get(id);
    if (!found) throw noTask();
    // It has been told the end: this status keeps a browser from connecting again.
    if (hasEnded(found) && found.version === after) return respond(null, 204);
    const look = async (signal: AbortSignal | undefined) => {
      const task = found ?? (await queue.get(id, { signal }));
      found = null;
      return task;
    };
    return eventStream(c, services, {
      lasts,
      open: (signal) => framesOf(watchTask(look, { after, signal })),
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

async function* framesOf(told: AsyncIterable<TaskEvent>): AsyncGenerator<Frame> {
  for await (const { event, ...data } of told) {
    const id = "version" in data ? data.version : undefined;
    yield { event, id, data: "task" in data ? { ...data, task: taskReply(data.task) } : data };
  }
}

async function* eventFrames(published: AsyncIterable<{ readonly event: string }>): AsyncGenerator<Frame> {
  for await (const data of published) yield { event: data.event, data };
}
