import * as v from "valibot";
import { name } from "../request-schemas/values.ts";
import { base64, count, described, headers, instant, nextCursor, payloadsHidden } from "./values.ts";

const ms = v.exactOptional(described(count, "Milliseconds."));

export const listedSchedule = v.object({
  name,
  queue: v.string(),
  cron: v.exactOptional(v.string()),
  timeZone: v.exactOptional(v.string()),
  every: ms,
  from: v.exactOptional(instant("The first occurrence")),
  until: v.exactOptional(instant("The end of the schedule")),
  missed: v.picklist(["last", "all"]),
  paused: v.boolean(),
  pausedAt: v.exactOptional(instant("Since when it is paused")),
  createdAt: instant("When it was created"),
  nextAt: described(
    v.nullable(count),
    "The next occurrence, epoch ms; null if the schedule is paused or has ended.",
  ),
  lastAt: described(
    v.nullable(count),
    "The last occurrence that was enqueued, epoch ms; null before the first. A `run` is none.",
  ),
});

export const schedulePut = v.object({
  ...listedSchedule.entries,
  created: described(v.boolean(), "False if there was a schedule with this name. It was changed."),
});

export const scheduleResumed = v.object({
  ...listedSchedule.entries,
  skipped: described(
    count,
    "How many occurrences the pause has skipped, at most 100. They are not made up: `run` enqueues a task now.",
  ),
});

export const schedule = v.object({
  ...listedSchedule.entries,
  payload: v.exactOptional(described(v.unknown(), "Absent only if the token hides payloads.")),
  encoding: v.exactOptional(base64("payload")),
  lease: ms,
  maxAttempts: v.exactOptional(count),
  resultTtl: ms,
  deadTtl: ms,
  group: v.exactOptional(name),
  priority: v.exactOptional(count),
  headers: v.exactOptional(headers),
  payloadsHidden: payloadsHidden("payload and headers"),
});

export const schedules = v.object({ schedules: v.array(listedSchedule), cursor: nextCursor });

export const scheduleRemoved = v.object({ name, removed: v.literal(true) });
