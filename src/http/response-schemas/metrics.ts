import * as v from "valibot";
import { count, described } from "./values.ts";

const amount = v.pipe(v.number(), v.minValue(0));

/** All numbers, because autoscalers accept nothing else. */
export const load = v.object({
  queue: v.string(),
  pending: count,
  working: count,
  paused: described(v.boolean(), "True while pulls return no tasks."),
  backlog: described(
    count,
    "The tasks that need a consumer: pending and working ones, or only working ones while the queue is paused.",
  ),
  workers: described(
    count,
    "Workers of the queue that are not gone, or still have tasks. Consumers without a name are not counted.",
  ),
  perWorker: described(
    amount,
    "Pending tasks for each worker, or all of them if there is no worker; 0 while the queue is paused.",
  ),
  oldestAge: described(count, "Time since the next pending task was enqueued, ms; 0 if none is pending."),
  perMinute: described(
    v.object({ enqueued: amount, completed: amount }),
    "Tasks per minute, the mean of the last five complete minutes; 0 if the queue keeps no statistics.",
  ),
});
