import * as v from "valibot";
import { fields } from "../request/validate.ts";
import { positiveDuration } from "./durations.ts";
import { cursor, described, flagText, integer, name, size, whole } from "./values.ts";

/** Of the list of queues. */
export const queuesQuery = fields({
  cursor: v.exactOptional(cursor),
  size: v.exactOptional(size("About this many queues")),
});

/** Of the end of a queue. */
export const deleteQueueQuery = fields({
  force: v.exactOptional(
    flagText("True deletes even where tasks are being worked on; their holders are told `lease_lost`."),
  ),
});

/** The name of a group as the path has it. */
export const groupInPath = fields({ group: name });

/** A setting that null unsets. */
const setting = <Schema extends v.GenericSchema>(schema: Schema, meaning: string) =>
  v.exactOptional(described(v.nullable(schema), meaning));

const rate = fields({
  max: whole(1, 1_000_000, "So many pulled tasks."),
  per: described(positiveDuration, "In any period of that length; at least 1 ms."),
});

const limits = {
  maxWorking: setting(integer(1, 1_000_000), "At most so many tasks are worked on at once."),
  rate: setting(rate, "At most so many tasks are pulled in any period of that length."),
};

const unsetNote = "What is absent stays as it is; null unsets.";

export const queueChanges = described(
  fields({
    ...limits,
    maxPending: setting(
      integer(1, 100_000_000),
      "An enqueue that would make more tasks pending is refused with `queue_full`. Delayed tasks do not count until they are due, and what is requeued or redriven is never refused.",
    ),
    events: setting(v.boolean(), "Whether what happens to tasks is published."),
    statistics: setting(v.boolean(), "Whether what happens to tasks is counted, by the minute, for an hour."),
  }),
  unsetNote,
);

export const groupChanges = described(
  fields({
    weight: setting(integer(1, 100), "Its share of the queue beside those of other groups. Unset: 1."),
    ...limits,
  }),
  unsetNote,
);
