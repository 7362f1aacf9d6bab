import * as v from "valibot";
import { LAST_INSTANT } from "../../queue/core/validation.ts";
import { rejectReasons, taskStates } from "../../queue/core/types.ts";
import { fields, list } from "../request/validate.ts";
import { budget } from "./durations.ts";
import { cursor, described, flagText, name, size, taskId, whole, wholeText } from "./values.ts";

const textWords = "must be a text of 1 to 1000 characters";
const rateWords = "must be a number from 0.001 to 1000000";

/** Which tasks are meant: all that is given has to hold. */
const filter = <Instant extends v.GenericSchema>(instant: (meaning: string) => Instant) => ({
  text: v.exactOptional(
    v.pipe(
      v.string(textWords),
      v.minLength(1, textWords),
      v.maxLength(1_000, textWords),
      v.description("What the last error, or the result, contains."),
    ),
  ),
  group: v.exactOptional(described(name, "Of that group.")),
  reason: v.exactOptional(
    described(
      v.picklist(rejectReasons, `must be one of ${rejectReasons.join(", ")}`),
      "Why they were rejected. Cancelled ones are only meant where this says so.",
    ),
  ),
  endedSince: v.exactOptional(instant("Ended then or later, epoch ms.")),
  endedUntil: v.exactOptional(instant("Ended before, epoch ms.")),
  enqueuedSince: v.exactOptional(instant("Enqueued then or later, epoch ms.")),
  enqueuedUntil: v.exactOptional(instant("Enqueued before, epoch ms.")),
});

const stateOf = <const State extends (typeof taskStates)[number]>(...allowed: State[]) =>
  v.picklist(allowed, (issue) =>
    issue.received === "undefined" ? "is required" : `must be one of ${allowed.join(", ")}`,
  );

/** Of a list of tasks. */
export const tasksQuery = fields({
  state: described(stateOf(...taskStates), "In which state."),
  cursor: v.exactOptional(cursor),
  size: v.exactOptional(size("At most this many tasks")),
  payloads: v.exactOptional(flagText("True gives payloads too, 8 MB at most in a page. Default false.")),
  ...filter((meaning) => wholeText(0, LAST_INSTANT, meaning)),
});

/** How far a call goes. */
const run = {
  limit: v.exactOptional(whole(1, 1_000_000_000, "At most this many tasks. Default: all.")),
  cursor: v.exactOptional(
    v.pipe(cursor, v.description("Where to go on: the `cursor` of the call before, with the same filter.")),
  ),
  budget: v.exactOptional(
    described(
      budget,
      'When to stop. Default "20s", or two fifths of the deployment\'s budget where that is less; at most "60s".',
    ),
  ),
};

const bodyFilter = filter((meaning) => whole(0, LAST_INSTANT, meaning));

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
                whole(0, Number.MAX_SAFE_INTEGER, "The lease number that it must have, as `get` shows it."),
              ),
            }),
          ],
          "must be an id, or an object with id and lease",
        ),
        1_000,
        "must have at most 1000 ids",
      ),
      "Which dead letters, instead of a filter. With its `lease`, a late copy of the request does nothing to one that has died again.",
    ),
  ),
  ...bodyFilter,
  dryRun: v.exactOptional(
    described(v.boolean(), "True counts what would be redriven, and changes nothing. Default false."),
  ),
  rate: v.exactOptional(
    described(
      v.pipe(v.number(rateWords), v.minValue(0.001, rateWords), v.maxValue(1_000_000, rateWords)),
      "At most so many become pending in a second; the others are delayed. Default: all at once.",
    ),
  ),
  ...run,
});

export const purge = fields({
  state: described(
    stateOf("pending", "delayed", "completed", "rejected"),
    "Of which state. Pending and delayed tasks are cancelled; of completed and rejected ones the records go.",
  ),
  ...bodyFilter,
  ...run,
});
