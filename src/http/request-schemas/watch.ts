import * as v from "valibot";
import { fields } from "../request/validate.ts";
import { eventsWait, wait } from "./durations.ts";
import { flagText } from "./values.ts";

/** A duration in a query. */
const durationText = (duration: typeof wait, meaning: string) =>
  v.pipe(
    v.string(),
    v.transform((text) => (/^\d{1,16}$/.test(text) ? Number(text) : text)),
    duration,
    v.description(meaning),
  );

/** The query of a task. */
export const taskQuery = fields({
  wait: v.exactOptional(
    durationText(
      wait,
      'How long to wait for the end of the task, or how long a stream lasts; at most "60s". Default: do not wait, and 60 seconds for a stream.',
    ),
  ),
  payload: v.exactOptional(
    flagText(
      "True includes the payload; the token needs the scope `view`. A stream has no payload. Default false.",
    ),
  ),
});

/** The query of a queue's events. */
export const eventsQuery = fields({
  wait: v.exactOptional(durationText(eventsWait, 'How long the stream lasts, at most "5m". Default "5m".')),
});
