import * as v from "valibot";
import { calls, counts, durations, perMinute, queueSettings, seriesNames } from "./queues.ts";
import { count, described } from "./values.ts";

const series = v.pipe(v.array(count), v.length(60));

const overview = v.object({
  queue: v.string(),
  ...counts.entries,
  settings: queueSettings,
  statistics: v.object({
    on: described(v.boolean(), "False if the queue keeps no statistics. Then all its numbers are 0."),
    perMinute,
    series: described(
      v.object(v.entriesFromList(seriesNames, series)),
      "Tasks in each of the last 60 minutes, the oldest first; `failed` are attempts. The last number is that of the current minute.",
    ),
    waits: described(durations, "Times from the enqueue of a task to its first pull, in these 60 minutes."),
    waitP95: described(
      v.nullable(count),
      "Within this time, ms, 95 of 100 tasks started, of those that were first pulled in these 60 minutes and those that wait now, whose ages are taken as evenly spread up to `oldestAge`. null if there are none, or without statistics.",
    ),
    runs: described(durations, "Times from a pull to its settle, in these 60 minutes."),
    calls,
  }),
  partitions: described(
    count,
    "How many partitions may have tasks of the queue, those that get no new ones included; 1 without partitions.",
  ),
});

const unread = v.object({
  queue: v.string(),
  code: described(v.string(), "Why the queue could not be read, such as `newer_schema`."),
});

export const overviews = v.object({
  now: described(v.nullable(count), "Redis's time, epoch ms; null if no queue could be read."),
  queues: described(v.array(v.union([overview, unread])), "In the order of the request."),
});
