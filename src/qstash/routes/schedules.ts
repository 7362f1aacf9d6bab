import { json } from "../../respond.ts";
import { bodyOf } from "../body.ts";
import type { LowerHeaders } from "../publish/headers.ts";
import {
  createSchedule,
  listSchedules,
  pauseSchedule,
  readSchedule,
  removeSchedule,
  resumeSchedule,
} from "../schedules/requests.ts";
import type { Dialect, DialectApp } from "./dialect.ts";
import { callerOf, done, readBytes, destinationOf } from "./requests.ts";

/** `/v2/schedules`: what is published again and again. */
export function scheduleRoutes(app: DialectApp, dialect: Dialect): void {
  app.get("/v2/schedules", async (c) => json(await listSchedules(dialect.session(c))));
  app.get("/v2/schedules/:id", async (c) => json(await readSchedule(dialect.session(c), c.req.param("id"))));
  app.delete("/v2/schedules/:id", async (c) => {
    await removeSchedule(dialect.session(c), c.req.param("id"));
    return done();
  });
  // The client sends PATCH, and the documentation has POST.
  for (const [verb, change] of [
    ["pause", pauseSchedule],
    ["resume", resumeSchedule],
  ] as const) {
    app.on(["PATCH", "POST"], `/v2/schedules/:id/${verb}`, async (c) => {
      await change(dialect.session(c), c.req.param("id"));
      return done();
    });
  }

  app.post("/v2/schedules/*", async (c) => {
    const headers = Object.fromEntries(c.req.raw.headers) as LowerHeaders;
    const destination = destinationOf(c, "schedules");
    const request = { destination, headers, ...bodyOf(await readBytes(c, dialect)), callerIp: callerOf(c) };
    return json({ scheduleId: await createSchedule(dialect.session(c), request) }, 201);
  });
}
