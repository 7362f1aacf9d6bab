import type { RequestOptions } from "../../kernel/options/types.ts";
import type { NewSchedule } from "../../features/schedules/index.ts";
import { noFields, readBody, readPath, readQuery, requestOptions } from "../request/read.ts";
import type { App, RequestContext, Services } from "../services.ts";
import { Problem } from "../problems/problem.ts";
import type * as replies from "../response-schemas/schedules.ts";
import type { enqueued } from "../response-schemas/tasks.ts";
import { requireSchedules } from "../request/required-parts.ts";
import { reply } from "../responses/reply.ts";
import * as schemas from "../request-schemas/schedules.ts";
import { fieldOf, hidePayloads } from "../responses/task-reply.ts";

const path = "/v1/queues/:queue/schedules";

/** The schedules of a queue. */
export function scheduleRoutes(app: App, services: Services): void {
  const { allow } = services;
  const schedules = (c: RequestContext) => {
    requireSchedules(services);
    return c.get("open").schedules();
  };

  app.get(path, allow("view"), async (c) => {
    const page = readQuery(c, schemas.schedulesQuery);
    return reply<typeof replies.schedules>(await schedules(c).list(page));
  });

  app.get(`${path}/:schedule`, allow("view"), async (c) => {
    readQuery(c);
    const found = await schedules(c).get(nameOf(c));
    if (!found) throw scheduleNotFound();
    const hides = c.get("grants").hidesPayloads(c.get("open").name, "view");
    const shown = hides ? hidePayloads(found) : found;
    return reply<typeof replies.schedule>({ ...shown, ...fieldOf(shown.payload, "payload", "encoding") });
  });

  app.put(`${path}/:schedule`, allow("admin"), async (c) => {
    const options = requestOptions(c);
    const name = nameOf(c);
    const body = await readBody(c, services, schemas.newSchedule);
    // The queue checks that it has either cron or every.
    const put = await schedules(c).put(name, body as object as NewSchedule<unknown>, options);
    return reply<typeof replies.schedulePut>(put, put.created ? 201 : 200);
  });

  app.delete(`${path}/:schedule`, allow("admin"), async (c) => {
    const options = requestOptions(c);
    const name = nameOf(c);
    const removed = await schedules(c).remove(name, options);
    if (!removed.ok) throw scheduleNotFound();
    return reply<typeof replies.scheduleRemoved>({ name, removed: true });
  });

  app.post(`${path}/:schedule/run`, allow("admin"), async (c) => {
    const options = requestOptions(c);
    const name = nameOf(c);
    await readBody(c, services, noFields, "optional");
    const run = await schedules(c).run(name, options);
    if (!run.ok) throw scheduleNotFound();
    const { id, created } = run;
    return reply<typeof enqueued>({ id, created }, created ? 201 : 200);
  });

  /** @param change pauses or resumes the schedule of a request */
  const changed = async <T>(
    c: RequestContext,
    change: (name: string, options: RequestOptions) => Promise<(T & { readonly ok: true }) | NotFound>,
  ): Promise<T> => {
    const options = requestOptions(c);
    const name = nameOf(c);
    await readBody(c, services, noFields, "optional");
    const done = await change(name, options);
    if (!done.ok) throw scheduleNotFound();
    return done;
  };

  app.post(`${path}/:schedule/pause`, allow("admin"), async (c) => {
    const { schedule } = await changed(c, (name, options) => schedules(c).pause(name, options));
    return reply<typeof replies.listedSchedule>(schedule);
  });

  app.post(`${path}/:schedule/resume`, allow("admin"), async (c) => {
    const { schedule, skipped } = await changed(c, (name, options) => schedules(c).resume(name, options));
    return reply<typeof replies.scheduleResumed>({ ...schedule, skipped });
  });
}

type NotFound = { readonly ok: false; readonly code: "not_found" };

const nameOf = (c: RequestContext) => readPath(c, schemas.scheduleInPath).schedule;

const scheduleNotFound = () =>
  new Problem("not_found", { detail: "There is no schedule with this name in the queue." });
