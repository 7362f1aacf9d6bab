import * as v from "valibot";
import { MAX_SCHEDULES } from "../../deploy/declared/declaration.ts";
import { fields, list } from "../request/validate.ts";
import { partitionCount } from "./partitions.ts";
import { queueChanges } from "./queues.ts";
import { newSchedule, scheduleInPath } from "./schedules.ts";
import { newTask } from "./tasks.ts";
import { decodeBytes } from "./values.ts";

const { lease, maxAttempts, resultTtl, deadTtl, delay, unique } = newTask.entries;

const schedule = v.pipe(
  fields({ name: scheduleInPath.entries.schedule, ...newSchedule.entries }),
  decodeBytes("payload"),
);

/** The declaration of a queue: its settings, its schedules, and the defaults of their tasks. */
export const declaration = fields({
  settings: v.exactOptional(queueChanges),
  partitions: v.exactOptional(partitionCount.entries.count),
  schedules: v.exactOptional(list(schedule, MAX_SCHEDULES, `must have at most ${MAX_SCHEDULES} schedules`)),
  defaults: v.exactOptional(fields({ lease, maxAttempts, resultTtl, deadTtl, delay, unique })),
});
