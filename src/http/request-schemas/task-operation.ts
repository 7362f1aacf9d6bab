import * as v from "valibot";
import { LAST_INSTANT } from "../../kernel/options/instants.ts";
import { MAX_BATCH } from "../../kernel/options/limits.ts";
import { deadReasons, rejectReasons, taskStates } from "../../kernel/options/types.ts";
import { fields, list } from "../request/validate.ts";
import { budget } from "./durations.ts";
import { cursor, flagText, instant, instantText, name, size, taskId, integer, perSecond } from "./values.ts";

const textForm = "must be a string of 1 to 1000 characters";
/** A filter of tasks. A task must match all given fields. */
const filter = <Instant extends v.GenericSchema, Reasons extends v.GenericSchema>(
  instant: Instant,
  reasons: Reasons,
) => ({
  text: v.exactOptional(v.pipe(v.string(textForm), v.minLength(1, textForm), v.maxLength(1_000, textForm))),
  group: v.exactOptional(name),
  reason: v.exactOptional(reasons),
  endedSince: v.exactOptional(instant),
  endedUntil: v.exactOptional(instant),
  enqueuedSince: v.exactOptional(instant),
  enqueuedUntil: v.exactOptional(instant),
});

const reasonsForm = `must be cancelled, or one or more of ${deadReasons.join(", ")}`;

/** Reasons in a query, separated by commas. */
const dead = `(?:${deadReasons.join("|")})`;
const reasonText = v.pipe(
  v.string(),
  v.regex(new RegExp(`^(?:cancelled|${dead}(?:,${dead})*)$`), reasonsForm),
);
const deadReasonText = v.pipe(
  v.string(),
  v.regex(new RegExp(`^${dead}(?:,${dead})*$`), `must be one or more of ${deadReasons.join(", ")}`),
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
  state: stateOf(...taskStates),
  cursor: v.exactOptional(cursor),
  size: v.exactOptional(size),
  payloads: v.exactOptional(
    v.pipe(
      v.picklist(["true", "false", "preview"], "must be true, false or preview"),
      v.transform((text) => (text === "preview" ? text : text === "true")),
      v.union([v.boolean(), v.literal("preview")]),
    ),
  ),
  reverse: v.exactOptional(flagText),
  ...filter(instantText(LAST_INSTANT), reasonText),
});

/** The bounds of one call. */
const run = {
  limit: v.exactOptional(integer(1, 1_000_000_000)),
  cursor: v.exactOptional(cursor),
  budget: v.exactOptional(budget),
};

const bodyFilter = filter(instant(LAST_INSTANT), bodyReason);

const idsOf = <Id extends v.GenericSchema>(id: Id) =>
  list(id, MAX_BATCH, `must have at most ${MAX_BATCH} ids`);

const idsWithLeases = idsOf(
  v.union(
    [taskId, fields({ id: taskId, lease: v.exactOptional(integer(0, Number.MAX_SAFE_INTEGER)) })],
    "must be an id, or an object with id and lease",
  ),
);

export const cancelMany = fields({ ids: idsWithLeases });

export const deleteMany = fields({ ids: idsOf(taskId) });

/** The query of the counts of dead letters. */
export const deadLettersQuery = fields({
  cursor: v.exactOptional(cursor),
  ...filter(instantText(LAST_INSTANT), deadReasonText),
});

export const redrive = fields({
  ids: v.exactOptional(idsWithLeases),
  ...bodyFilter,
  reason: v.exactOptional(bodyReason),
  dryRun: v.exactOptional(v.boolean()),
  rate: v.exactOptional(perSecond),
  ...run,
});

export const purge = fields({
  state: stateOf("pending", "delayed", "blocked", "completed", "rejected"),
  ...bodyFilter,
  ...run,
});
