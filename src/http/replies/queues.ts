import * as v from "valibot";
import { queueEvents } from "../../queue/tasks/events.ts";
import { name } from "../schemas/values.ts";
import { count, described, instant, nextCursor } from "./values.ts";

export const queues = v.object({
  queues: v.array(
    v.object({ name: v.string(), seenAt: instant("When it was last known to be in use, to some minutes") }),
  ),
  cursor: nextCursor,
});

export const queue = v.object({
  queue: v.string(),
  pending: count,
  delayed: count,
  working: count,
  rejected: described(count, "Dead letters."),
  oldestAge: described(
    v.nullable(count),
    "How long ago the task was enqueued that is next in line, ms; null if none is pending. It is the greater age of two: the next task without a group or priority, and the next one with. Tasks that their group's limit holds count only if no other task waits.",
  ),
  nextDueAt: described(
    v.nullable(count),
    "When the next delayed task is due or the next lease ends, epoch ms.",
  ),
  broken: described(count, "Entries without a usable record, put aside by a pull; 0 in a sound queue."),
  workers: described(count, "Workers that pull from it and are not silent."),
  paused: described(v.boolean(), "True while a pull gives nothing."),
});

export const queueDeleted = v.object({ queue: v.string(), deleted: v.literal(true) });

const limit = (meaning: string) => described(v.nullable(count), `${meaning}; null: no limit.`);

const limits = {
  maxWorking: limit("Most tasks that are worked on at once"),
  rate: described(
    v.nullable(v.object({ max: count, per: described(count, "Milliseconds.") })),
    "Most tasks that are pulled in any such period; null: no limit.",
  ),
};

export const queueSettings = v.object({
  paused: v.boolean(),
  ...limits,
  maxPending: limit("Most tasks that are pending before an enqueue is refused"),
  events: described(v.boolean(), "Whether what happens to tasks is published."),
  statistics: described(v.boolean(), "Whether what happens to tasks is counted."),
});

export const groupSettings = v.object({
  weight: described(count, "Its share of the queue beside those of other groups."),
  ...limits,
});

export const group = v.object({
  queue: v.string(),
  group: name,
  ...groupSettings.entries,
  ready: described(count, "Tasks that a pull may give."),
  working: count,
  limited: described(count, "Tasks that wait for the group's own limits."),
});

export const statistics = v.object({
  queue: v.string(),
  on: described(v.boolean(), "False where the queue keeps no statistics: all counts are then 0."),
  minutes: described(
    v.array(
      v.object({ startsAt: instant("When the minute began"), ...v.entriesFromList(queueEvents, count) }),
    ),
    "The last 60, the oldest first; the last one is not over yet.",
  ),
  perMinute: described(
    v.object(v.entriesFromList(queueEvents, v.pipe(v.number(), v.minValue(0)))),
    "Tasks a minute, the mean of the last five minutes that are over.",
  ),
});
