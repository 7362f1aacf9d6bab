import * as v from "valibot";
import { fields } from "../request/validate.ts";
import { durationText, stuck } from "./durations.ts";
import { queuePattern } from "./values.ts";

/** The query of the health of queues. */
export const healthQuery = fields({
  queues: v.exactOptional(queuePattern),
  after: v.exactOptional(durationText(stuck)),
  fail: v.exactOptional(v.picklist(["problem", "warning"], 'must be "problem" or "warning"')),
});
