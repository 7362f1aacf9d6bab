import * as v from "valibot";
import { fields } from "../request/validate.ts";
import { eventsWait, wait } from "./durations.ts";
import { flagText } from "./values.ts";

/** A duration in a query. */
const durationText = (duration: typeof wait) =>
  v.pipe(
    v.string(),
    v.transform((text) => (/^\d{1,16}$/.test(text) ? Number(text) : text)),
    duration,
  );

/** The query of a task. */
export const taskQuery = fields({
  wait: v.exactOptional(durationText(wait)),
  payload: v.exactOptional(flagText),
});

/** The query of a queue's events. */
export const eventsQuery = fields({
  wait: v.exactOptional(durationText(eventsWait)),
});
