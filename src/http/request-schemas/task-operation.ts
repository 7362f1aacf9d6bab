import * as v from "valibot";
import { LAST_INSTANT } from "../../queue/core/validation.ts";
import { deadReasons, rejectReasons, taskStates } from "../../queue/core/types.ts";
import { fields, list } from "../request/validate.ts";
import { budget } from "./durations.ts";
import { cursor, described, flagText, instant, instantText, name, size, taskId, whole } from "./values.ts";

const textForm = "must be a string of 1 to 1000 characters";
const rateForm = "must be a number from 0.001 to 1000000";

/** A filter of tasks. A task must match all given fields. */
const filter = <Instant extends v.GenericSchema, Reasons extends v.GenericSchema>(
  instant: (meaning: string) => Instant,
  reasons: Reasons,
) => ({
  text: v.exactOptional(
    v.pipe(
      v.string(textForm),
      v.minLength(1, textForm),
      v.maxLength(1_000, textForm),
      v.description(
        "Text that the last error, or the result, contains. Of a task without an error, and of one whose last lease expired, also the text of its reason.",
      ),
    ),
  ),
  group: v.exactOptional(described(name, "Tasks of this group.")),
  reason: v.exactOptional(
    described(
      reasons,
      "The reason for which they were rejected, or several of which one must match. `cancelled` cannot be one of several: cancelled tasks are no dead letters.",
    ),
  ),
  endedSince: v.exactOptional(instant("Ended at this time or later, epoch ms.")),
  endedUntil: v.exactOptional(instant("Ended before this time, epoch ms.")),
  enqueuedSince: v.exactOptional(instant("Enqueued at this time or later, epoch ms.")),
  enqueuedUntil: v.exactOptional(instant("Enqueued before this time, epoch ms.")),
});

const reasonsForm = `must be cancelled, or one or more of ${deadReasons.join(", ")}`;

/** Reasons in a query, separated by commas. */
const dead = `(?:${deadReasons.join("|")})`;
const reasonText = v.pipe(
  v.string(),
  v.regex(new RegExp(`^(?:cancelled|${dead}(?:,${dead})*)$`), reasonsForm),
);

const bodyReason = v.union(
  [v.picklist(rejectReasons), v.pipe(v.array(v.picklist(deadReasons)), v.minLength(1))],
  reasonsForm,
);

const stateOf = <const State extends (typeof taskStates)[number]>(...allowed: State[]) =>
  v.picklist(allowed, (issue) =>
    issue.received === "undefined" ? "is required" : `must be one of ${allowed.join(", ")}`,
  );

/** The query of the list of tasks. */
export const tasksQuery = fields({
  state: described(stateOf(...taskStates), "The state of the tasks."),
  cursor: v.exactOptional(cursor),
  size: v.exactOptional(size("At most this many tasks")),
  payloads: v.exactOptional(flagText("True includes payloads, at most 8 MB in one page. Default false.")),
  ...filter((meaning) => instantText(LAST_INSTANT, meaning), reasonText),
});

/** The bounds of one call. */
const run = {
  limit: v.exactOptional(whole(1, 1_000_000_000, "The most tasks. Default: all.")),
  cursor: v.exactOptional(
    v.pipe(
      cursor,
      v.description("Where to continue: the `cursor` of the previous call. The filter must be the same."),
    ),
  ),
  budget: v.exactOptional(
    described(
      budget,
      'How long the call may take. Default "20s", or two fifths of the deployment\'s budget if that is less; at most "60s".',
    ),
  ),
};

const bodyFilter = filter((meaning) => instant(LAST_INSTANT, meaning), bodyReason);

export const redrive = fields({
  ids: v.exactOptional(
    described(
      list(
        v.union(
          [
            taskId,
            fields({
              id: taskId,
              lease: v.exactOptional(
                whole(
                  0,
                  Number.MAX_SAFE_INTEGER,
                  "Redrive only if the task has this lease number. Its record has it as `lease`.",
                ),
              ),
            }),
          ],
          "must be an id, or an object with id and lease",
        ),
        1_000,
        "must have at most 1000 ids",
      ),
      "The dead letters to redrive, instead of a filter. With `lease`, a late copy of the request does not redrive a task that has since become a dead letter again.",
    ),
  ),
  ...bodyFilter,
  reason: v.exactOptional(
    described(
      bodyReason,
      "The reason for which they were rejected, or several of which one must match. Default: `attempts_exhausted` and `lease_expired`, so that those that a consumer rejected for good stay.",
    ),
  ),
  dryRun: v.exactOptional(
    described(
      v.boolean(),
      "True counts the tasks that would be redriven and changes nothing. Default false.",
    ),
  ),
  rate: v.exactOptional(
    described(
      v.pipe(v.number(rateForm), v.minValue(0.001, rateForm), v.maxValue(1_000_000, rateForm)),
      "The most tasks that become pending per second. The others are delayed. Default: all at once.",
    ),
  ),
  ...run,
});

export const purge = fields({
  state: described(
    stateOf("pending", "delayed", "completed", "rejected"),
    "The state of the tasks. Pending and delayed tasks are cancelled. The records of completed and rejected tasks are deleted.",
  ),
  ...bodyFilter,
  ...run,
});
