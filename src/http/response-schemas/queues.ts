import * as v from "valibot";
import { durationBounds } from "../../operate/statistics.ts";
import { queueEvents } from "../../kernel/tasks/events.ts";
import { name, taskId } from "../request-schemas/values.ts";
import { count, described, instant, nextCursor } from "./values.ts";

const pausedUntil = described(
  v.nullable(count),
  "When the pause ends, epoch ms; null if there is none, or it lasts until it is resumed.",
);

export const counts = v.object({
  pending: count,
  delayed: count,
  blocked: described(count, "Tasks of flows that wait for others."),
  working: count,
  rejected: described(count, "Dead letters."),
  oldestAge: described(
    v.nullable(count),
    "Time since the next pending task was enqueued, ms; null if none is pending. There are two candidates: the next task without a group or priority, and the next one with either. The older one counts. Tasks that wait for their group's limit count only if no other task is pending.",
  ),
  nextDueAt: described(
    v.nullable(count),
    "When the next delayed task is due or the next lease expires, epoch ms.",
  ),
  broken: described(count, "Entries without a valid record that pulls have set aside; 0 in a valid queue."),
  workers: described(count, "Workers of the queue that are not gone, or still have tasks."),
  paused: described(v.boolean(), "True while pulls return no tasks."),
  stoppedGroups: described(count, "Groups in strict order that a dead letter has stopped."),
  pausedUntil,
});

export const queues = v.object({
  queues: v.array(
    v.object({
      name: v.string(),
      seenAt: instant("When it was last known to be in use, accurate to some minutes"),
      counts: v.exactOptional(
        described(v.nullable(counts), "If counts were requested; null if they could not be read."),
      ),
    }),
  ),
  cursor: nextCursor,
});

export const queue = v.object({ queue: v.string(), ...counts.entries });

export const queueDeleted = v.object({ queue: v.string(), deleted: v.literal(true) });

const limit = (meaning: string) => described(v.nullable(count), `${meaning}; null: no limit.`);

const limits = {
  maxWorking: limit("The most tasks that are working at the same time"),
  rate: described(
    v.nullable(v.object({ most: count, per: described(count, "Milliseconds.") })),
    "The most tasks (`most`) that are pulled in any period of the length `per`; null: no limit.",
  ),
};

const onDead = v.picklist(["continue", "stop"]);

export const queueSettings = v.object({
  paused: v.boolean(),
  pausedUntil,
  ...limits,
  maxPending: limit("The most pending tasks before an enqueue is refused"),
  events: described(v.boolean(), "Whether the queue publishes events of its tasks."),
  statistics: described(v.boolean(), "Whether the queue counts events of its tasks."),
  order: described(
    v.nullable(v.literal("strict")),
    "Whether the tasks of each group are worked on one after the other; null: side by side.",
  ),
  onDead: described(onDead, "Whether a dead letter stops its group, if that has an order."),
});

export const groupSettings = v.object({
  paused: described(v.boolean(), "True while pulls return no tasks of the group."),
  pausedUntil,
  weight: described(count, "The group's share of the queue relative to other groups."),
  ...limits,
  order: described(
    v.nullable(v.picklist(["strict", "none"])),
    "The order of its tasks; null: that of the queue.",
  ),
  onDead: described(
    v.nullable(onDead),
    "Whether a dead letter stops the group, if it has an order; null: as the queue says.",
  ),
});

export const group = v.object({
  queue: v.string(),
  group: name,
  ...groupSettings.entries,
  ready: described(count, "Pending tasks that a pull may return."),
  working: count,
  limited: described(count, "Pending tasks that wait for the group's limits."),
  inLine: described(count, "In strict order, pending tasks that wait until those before them have ended."),
  stoppedBy: described(v.nullable(taskId), "The dead letter that has stopped the group; null if none has."),
});

export const groups = v.object({ groups: v.array(group), cursor: nextCursor });

export const stoppedGroups = v.object({
  total: described(count, "How many groups of the queue are stopped."),
  groups: v.array(v.object({ group: name, id: described(taskId, "The dead letter that stops it.") })),
  cursor: nextCursor,
});

export const skipped = v.object({ id: taskId, skipped: v.literal(true) });

export const durations = v.object({
  count,
  total: described(count, "Their sum, ms."),
  classes: described(
    v.array(count),
    `How many were in each class. A class has an upper bound that belongs to it: ${durationBounds.join(", ")} ms. The last class has none.`,
  ),
});

export const perMinute = described(
  v.object(v.entriesFromList(queueEvents, v.pipe(v.number(), v.minValue(0)))),
  "Tasks per minute, the mean of the last five complete minutes.",
);

export const calls = described(
  v.object({ enqueue: count, dequeue: count, settle: count, other: count }),
  "Calls that caused an event. Calls that found no task are not counted.",
);

const period = {
  ...v.entriesFromList(queueEvents, count),
  attempts: described(count, "Attempts of the tasks that were completed or became dead letters."),
  waits: described(durations, "Times from the enqueue of a task to its first pull. A delay is a part of it."),
  runs: described(durations, "Times from a pull to its settle."),
  takenBack: described(count, "Of the reclaimed tasks, those that an operator took back from their worker."),
  calls,
};

/** What an overview and the history have a series of: tasks by event, and `failed`, the attempts that failed. */
export const seriesNames = ["enqueued", "dequeued", "completed", "failed"] as const;

const series = v.object(v.entriesFromList(seriesNames, v.array(count)));
const percentiles = v.array(v.nullable(count));

export const statistics = v.object({
  queue: v.string(),
  on: described(v.boolean(), "False if the queue keeps no statistics. Then all counts are 0."),
  minutes: described(
    v.array(v.object({ startsAt: instant("When the minute began"), ...period })),
    "The last 60 minutes, the oldest first. The last one is the current minute.",
  ),
  perMinute,
  history: v.exactOptional(
    described(
      v.object({
        startsAt: instant("When the first five minutes began"),
        every: described(count, "Five minutes, in ms."),
        series: described(series, "Tasks in each; `failed` are attempts."),
        waitP95: described(
          percentiles,
          "Within which time, ms, 95 of 100 tasks were pulled that were first pulled in them: the bound of a class, 1 more than the last bound if it is above it. null if none was.",
        ),
        runP95: described(percentiles, "Within which time, ms, 95 of 100 attempts were settled, likewise."),
      }),
      "With `history=true`: the last 24 hours by five minutes, 288 numbers in each list, the oldest first.",
    ),
  ),
  totals: described(
    v.object({
      since: described(
        v.nullable(count),
        "When the first minute began, epoch ms; null if nothing was counted.",
      ),
      ...period,
    }),
    "All since the setting `statistics` was switched on.",
  ),
});
