import * as v from "valibot";
import { fields } from "../request/validate.ts";
import { positiveDuration } from "./durations.ts";
import { cursor, flagText, integer, name, size } from "./values.ts";

/** The query of the list of queues. */
export const queuesQuery = fields({
  cursor: v.exactOptional(cursor),
  size: v.exactOptional(size),
  counts: v.exactOptional(flagText),
});

/** The query of the statistics of a queue. */
export const statisticsQuery = fields({
  history: v.exactOptional(flagText),
});

/** The query of the deletion of a queue. */
export const deleteQueueQuery = fields({
  force: v.exactOptional(flagText),
});

/** The query of the list of groups. */
export const groupsQuery = fields({
  cursor: v.exactOptional(cursor),
  size: v.exactOptional(size),
});

/** The group in the path. */
export const groupInPath = fields({ group: name });

/** How long a pause lasts. */
export const pause = fields({ for: v.exactOptional(positiveDuration) });

/** A setting that null removes. */
const setting = <Schema extends v.GenericSchema>(schema: Schema) => v.exactOptional(v.nullable(schema));

const rate = fields({
  most: integer(1, 1_000_000),
  per: positiveDuration,
});

const limits = {
  maxWorking: setting(integer(1, 1_000_000)),
  rate: setting(rate),
};

const onDead = setting(v.picklist(["continue", "stop"], 'must be "continue" or "stop"'));

export const queueChanges = fields({
  ...limits,
  maxPending: setting(integer(1, 100_000_000)),
  events: setting(v.boolean()),
  statistics: setting(v.boolean()),
  order: setting(v.picklist(["strict"], 'must be "strict"')),
  onDead,
});

export const groupChanges = fields({
  paused: setting(v.union([v.boolean(), pause], "must be true, false, or an object with `for`")),
  weight: setting(integer(1, 100)),
  ...limits,
  order: setting(v.picklist(["strict", "none"], 'must be "strict" or "none"')),
  onDead,
});
