import * as v from "valibot";
import { fields } from "../request/validate.ts";
import { durationText, eventsWait, wait } from "./durations.ts";
import { flagText } from "./values.ts";

/** The query of a task. */
export const taskQuery = fields({
  wait: v.exactOptional(durationText(wait)),
  payload: v.exactOptional(flagText),
});

/** The query of a queue's events. */
export const eventsQuery = fields({
  wait: v.exactOptional(durationText(eventsWait)),
});
