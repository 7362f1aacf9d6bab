import * as v from "valibot";
import { LAST_INSTANT } from "../../kernel/options/instants.ts";
import { MAX_SCHEDULE_NAME } from "../../features/schedules/index.ts";
import { fields } from "../request/validate.ts";
import { interval } from "./durations.ts";
import { newTask } from "./tasks.ts";
import { decodeBytes, cursor, instant, name, size } from "./values.ts";

/** The schedule in the path. */
export const scheduleInPath = fields({
  schedule: v.pipe(name, v.maxLength(MAX_SCHEDULE_NAME, `must have at most ${MAX_SCHEDULE_NAME} characters`)),
});

/** The query of the list of schedules. */
export const schedulesQuery = fields({
  cursor: v.exactOptional(cursor),
  size: v.exactOptional(size),
});

const { payload, encoding, lease, maxAttempts, resultTtl, deadTtl, group, priority, headers } =
  newTask.entries;

export const newSchedule = v.pipe(
  fields({
    cron: v.exactOptional(v.string()),
    timeZone: v.exactOptional(v.string()),
    every: v.exactOptional(interval),
    from: v.exactOptional(instant(LAST_INSTANT)),
    until: v.exactOptional(instant(LAST_INSTANT)),
    missed: v.exactOptional(v.picklist(["last", "all"], "must be last or all")),
    paused: v.exactOptional(v.boolean()),
    payload,
    encoding,
    lease,
    maxAttempts,
    resultTtl,
    deadTtl,
    group,
    priority,
    headers,
  }),
  decodeBytes("payload"),
);
