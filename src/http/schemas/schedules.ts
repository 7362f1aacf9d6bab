import * as v from "valibot";
import { LAST_INSTANT } from "../../queue/core/validation.ts";
import { MAX_SCHEDULE_NAME } from "../../queue/schedules/schedules.ts";
import { fields } from "../request/validate.ts";
import { interval } from "./durations.ts";
import { newTask } from "./tasks.ts";
import { bytesWhereSaid, cursor, described, name, size, whole } from "./values.ts";

/** The name of a schedule as the path has it. */
export const scheduleInPath = fields({
  schedule: v.pipe(name, v.maxLength(MAX_SCHEDULE_NAME, `must have at most ${MAX_SCHEDULE_NAME} characters`)),
});

/** Of the list of schedules. */
export const schedulesQuery = fields({
  cursor: v.exactOptional(cursor),
  size: v.exactOptional(size("About this many schedules")),
});

const { payload, encoding, lease, maxAttempts, resultTtl, deadTtl, group, priority, headers } =
  newTask.entries;

export const newSchedule = v.pipe(
  fields({
    cron: v.exactOptional(
      described(
        v.string(),
        "When it occurs: five fields (minute, hour, day of month, month, day of week), six with seconds in front, or such as `@daily`. Either this or `every`.",
      ),
    ),
    timeZone: v.exactOptional(
      described(v.string(), 'By whose clock, as the IANA names it, such as `Europe/Berlin`. Default "UTC".'),
    ),
    every: v.exactOptional(
      described(interval, "The time from one occurrence to the next; at least 1 s. Either this or `cron`."),
    ),
    from: v.exactOptional(
      whole(
        0,
        LAST_INSTANT,
        "With `every`: the first occurrence, epoch ms; of one that has passed the next that follows counts. Default: after one interval.",
      ),
    ),
    until: v.exactOptional(
      whole(0, LAST_INSTANT, "Instant, epoch ms, after which it does not occur any more."),
    ),
    missed: v.exactOptional(
      described(
        v.picklist(["last", "all"], "must be last or all"),
        "What becomes of occurrences that no sweep came for in time: the last of them, or each. Default last.",
      ),
    ),
    paused: v.exactOptional(
      described(v.boolean(), "True pauses it, false resumes it. Default: as it is; a new one is not paused."),
    ),
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
  bytesWhereSaid("payload"),
);
