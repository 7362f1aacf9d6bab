import { milliseconds } from "../../kernel/options/duration.ts";
import { forbidden } from "../auth/authenticator.ts";
import { taskNotFound } from "../problems/problem.ts";
import type { TaskInfo } from "../../kernel/record/task-info.ts";
import { hasEnded, type TaskEvent, watchTask } from "../../kernel/tasks/watch.ts";
import { json, respond } from "../../respond.ts";
import { readPath, readQuery } from "../request/read.ts";
import type { App, Services } from "../services.ts";
import { eventStream, type Frame, lastEventId, wantsEvents } from "../responses/event-stream.ts";
import { longestEvents, longestWait } from "../request-schemas/durations.ts";
import { idInPath } from "../request-schemas/tasks.ts";
import { eventsQuery, taskQuery } from "../request-schemas/watch.ts";
import { hidePayloads, reportedReply, taskReply } from "../responses/task-reply.ts";
import type { PublishedEvent } from "../../kernel/tasks/events.ts";

/** Get, wait for and follow a task, and the stream of a queue's events. */
export function watchRoutes(app: App, services: Services): void {
  const { allow } = services;

  app.get("/v1/queues/:queue/tasks/:id", allow("enqueue", "view"), async (c) => {
    const { wait, payload } = readQuery(c, taskQuery);
    const { id } = readPath(c, idInPath);
    const queue = c.get("open").queue();
    const grants = c.get("grants");
    if (payload && !grants.allows("view", queue.name)) throw forbidden(["view"], queue.name);
    // Entries without the scope view do not allow a request for the payload, so they cannot show it.
    const by = payload ? (["view"] as const) : (["enqueue", "view"] as const);
    const hides = grants.hidesPayloads(queue.name, ...by);
    const visible = hides ? hidePayloads : (task: TaskInfo) => task;
    const withPayload = payload === true && !hides;
    if (!wantsEvents(c)) {
      const span = milliseconds(wait ?? 0, "wait", { max: longestWait });
      const signal = c.req.raw.signal;
      // Without a wait one read has it all.
      const waited = withPayload && span === 0 ? null : await queue.wait(id, { for: span, signal });
      const task = withPayload ? await queue.get(id, { payload: true, signal }) : waited;
      if (!task) throw taskNotFound();
      return json(taskReply(visible(task)));
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
      return task && visible(task);
    };
    return eventStream(c, services, {
      lasts,
      open: (signal) => framesOf(watchTask(getTask, { after, signal })),
    });
  });

  app.get("/v1/queues/:queue/events", allow("view"), async (c) => {
    const { wait } = readQuery(c, eventsQuery);
    const lasts = milliseconds(wait ?? longestEvents, "wait", { max: longestEvents });
    return eventStream(c, services, {
      lasts,
      open: async (signal) => {
        const queue = c.get("open").queue();
        const hides = c.get("grants").hidesPayloads(queue.name, "view");
        return eventFrames(await queue.events({ signal, warn: false }), hides);
      },
    });
  });
}

async function* framesOf(events: AsyncIterable<TaskEvent>): AsyncGenerator<Frame> {
  for await (const { event, ...data } of events) {
    const id = "version" in data ? data.version : undefined;
    yield { event, id, data: "task" in data ? { ...data, task: taskReply(data.task) } : data };
  }
}

/** @param hides whether the token may not see results and progress */
async function* eventFrames(published: AsyncIterable<PublishedEvent>, hides: boolean): AsyncGenerator<Frame> {
  for await (const { tasks, ...data } of published) {
    const { event } = data;
    if (hides && event === "progress") continue;
    const shown = tasks?.map((task) => reportedReply(hides ? hidePayloads(task) : task));
    yield { event, data: { ...data, tasks: shown } };
  }
}
