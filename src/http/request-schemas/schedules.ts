import * as v from "valibot";
import { LAST_INSTANT } from "../../queue/core/validation.ts";
import { MAX_SCHEDULE_NAME } from "../../queue/schedules/new-schedule.ts";
import { fields } from "../request/validate.ts";
import { interval } from "./durations.ts";
import { newTask } from "./tasks.ts";
import { decodeBytes, cursor, described, instant, name, size } from "./values.ts";

/** The schedule in the path. */
export const scheduleInPath = fields({
  schedule: v.pipe(name, v.maxLength(MAX_SCHEDULE_NAME, `must have at most ${MAX_SCHEDULE_NAME} characters`)),
});

/** The query of the list of schedules. */
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
        "A cron expression: five fields (minute, hour, day of month, month, day of week), six with seconds first, or a name such as `@daily`. Either `cron` or `every` is required.",
      ),
    ),
    timeZone: v.exactOptional(
      described(v.string(), 'The IANA time zone of `cron`, such as `Europe/Berlin`. Default "UTC".'),
    ),
    every: v.exactOptional(
      described(
        interval,
        "The time from one occurrence to the next, at least 1 s. Either `cron` or `every` is required.",
      ),
    ),
    from: v.exactOptional(
      instant(
        LAST_INSTANT,
        "With `every`: the first occurrence, epoch ms. If it is in the past, the schedule starts with the next occurrence counted from it. Default: one interval from now.",
      ),
    ),
    until: v.exactOptional(
      instant(LAST_INSTANT, "The end of the schedule, epoch ms. No occurrence is later."),
    ),
    missed: v.exactOptional(
      described(
        v.picklist(["last", "all"], "must be last or all"),
        "Which occurrences are enqueued if no sweep ran in time: only the last, or all. Default last.",
      ),
    ),
    paused: v.exactOptional(
      described(
        v.boolean(),
        "True pauses the schedule, false resumes it. Default: unchanged. A new schedule is not paused.",
      ),
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
  decodeBytes("payload"),
);
