import * as v from "valibot";
import { MAX_SCHEDULES } from "../../declared/declaration.ts";
import { fields, list } from "../request/validate.ts";
import { partitionCount } from "./partitions.ts";
import { queueChanges } from "./queues.ts";
import { newSchedule, scheduleInPath } from "./schedules.ts";
import { newTask } from "./tasks.ts";
import { decodeBytes, described } from "./values.ts";

const { lease, maxAttempts, resultTtl, deadTtl, delay, unique } = newTask.entries;

const schedule = v.pipe(
  fields({ name: scheduleInPath.entries.schedule, ...newSchedule.entries }),
  decodeBytes("payload"),
);

/** The declaration of a queue: its settings, its schedules, and the defaults of their tasks. */
export const declaration = fields({
  settings: v.exactOptional(
    described(
      queueChanges,
      "The settings. One that the previous declaration had and this one does not is removed.",
    ),
  ),
  partitions: v.exactOptional(
    described(
      partitionCount.entries.count,
      "How many partitions the queue has. If the previous declaration had a number and this one does not, it is 1.",
    ),
  ),
  schedules: v.exactOptional(
    described(
      list(schedule, MAX_SCHEDULES, `must have at most ${MAX_SCHEDULES} schedules`),
      "The schedules. One that the previous declaration had and this one does not is removed.",
    ),
  ),
  defaults: v.exactOptional(
    described(
      fields({ lease, maxAttempts, resultTtl, deadTtl, delay, unique }),
      "The defaults of the tasks of its schedules.",
    ),
  ),
});
