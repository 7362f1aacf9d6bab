/** The requests of the dashboard for schedules. */
import type * as types from "./types.ts";
import { type Cursor, pageOf, pathOf } from "./path.ts";
import { send } from "./request.ts";

export const schedules = (queue: string, cursor: Cursor, signal: AbortSignal): Promise<types.SchedulePage> =>
  send(pageOf(queue, "schedules", cursor), { signal, commands: 4 });

export const schedule = (queue: string, name: string): Promise<types.Schedule> =>
  send(pathOf(queue, "schedules", name), { commands: 2 });

export const putSchedule = (queue: string, name: string, body: types.NewSchedule) =>
  send(pathOf(queue, "schedules", name), { method: "PUT", body, commands: 8 });

export const turnSchedule = (queue: string, name: string, action: "pause" | "resume") =>
  send(pathOf(queue, "schedules", name, action), { method: "POST", commands: 6 });

/** @param key a second request with the same key enqueues nothing */
export const runSchedule = (queue: string, name: string, key: string): Promise<{ readonly id: string }> =>
  send(pathOf(queue, "schedules", name, "run"), { method: "POST", key, commands: 10 });
