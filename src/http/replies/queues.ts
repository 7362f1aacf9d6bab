import * as v from "valibot";
import { count, described, instant } from "./values.ts";

export const queues = v.object({
  queues: v.array(
    v.object({ name: v.string(), seenAt: instant("When a task was last enqueued, to the minute") }),
  ),
  cursor: described(v.nullable(v.string()), "Where the next page begins; null on the last."),
});

export const queue = v.object({
  queue: v.string(),
  pending: count,
  delayed: count,
  working: count,
  rejected: described(count, "Dead letters."),
  oldestAge: described(v.nullable(count), "Age of the next task in line, ms; null where none is pending."),
  nextDueAt: described(
    v.nullable(count),
    "When the next delayed task is due or the next lease ends, epoch ms.",
  ),
  broken: described(count, "Entries without a usable record, put aside by a pull; 0 in a sound queue."),
  workers: described(count, "Workers that pull from it and are not silent."),
  paused: described(v.boolean(), "True while a pull gives nothing."),
});
