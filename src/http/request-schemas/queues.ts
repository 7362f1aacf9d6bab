import * as v from "valibot";
import { fields } from "../request/validate.ts";
import { positiveDuration } from "./durations.ts";
import { cursor, described, flagText, integer, name, size, whole } from "./values.ts";

/** The query of the list of queues. */
export const queuesQuery = fields({
  cursor: v.exactOptional(cursor),
  size: v.exactOptional(size("About this many queues")),
  counts: v.exactOptional(
    flagText("True counts the tasks of each queue, as `GET /v1/queues/{queue}` does. Default false."),
  ),
});

/** The query of the deletion of a queue. */
export const deleteQueueQuery = fields({
  force: v.exactOptional(
    flagText("True deletes the queue even if tasks are working. Their holders get `lease_lost`."),
  ),
});

/** The query of the list of groups. */
export const groupsQuery = fields({
  cursor: v.exactOptional(cursor),
  size: v.exactOptional(size("At most this many groups")),
});

/** The group in the path. */
export const groupInPath = fields({ group: name });

/** A setting that null removes. */
const setting = <Schema extends v.GenericSchema>(schema: Schema, meaning: string) =>
  v.exactOptional(described(v.nullable(schema), meaning));

const rate = fields({
  most: whole(1, 1_000_000, "The most pulled tasks."),
  per: described(positiveDuration, "The length of the period, at least 1 ms."),
});

const limits = {
  maxWorking: setting(integer(1, 1_000_000), "The most tasks that are working at the same time."),
  rate: setting(rate, "The most tasks (`most`) that are pulled in any period of the length `per`."),
};

const unsetNote = "Fields that are left out keep their value. null removes the setting.";

export const queueChanges = described(
  fields({
    ...limits,
    maxPending: setting(
      integer(1, 100_000_000),
      "An enqueue that would exceed this number of pending tasks is refused with `queue_full`. Delayed tasks count from when they are due. Requeued and redriven tasks are never refused.",
    ),
    events: setting(v.boolean(), "Whether the queue publishes events of its tasks."),
    statistics: setting(
      v.boolean(),
      "Whether the queue counts events of its tasks, per minute, for one hour.",
    ),
  }),
  unsetNote,
);

export const groupChanges = described(
  fields({
    weight: setting(integer(1, 100), "The group's share of the queue relative to other groups. Default 1."),
    ...limits,
  }),
  unsetNote,
);
