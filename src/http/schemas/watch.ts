import * as v from "valibot";
import { fields } from "../request/validate.ts";
import { eventsWait, wait } from "./durations.ts";

/** A duration as a query has it. */
const durationText = (duration: typeof wait, meaning: string) =>
  v.pipe(
    v.string(),
    v.transform((text) => (/^\d{1,16}$/.test(text) ? Number(text) : text)),
    duration,
    v.description(meaning),
  );

/** Of a task. */
export const taskQuery = fields({
  wait: v.exactOptional(
    durationText(
      wait,
      'How long the request may take, at most "60s". Without it the answer comes at once, and a stream lasts for 60 seconds.',
    ),
  ),
});

/** Of a queue's events. */
export const eventsQuery = fields({
  wait: v.exactOptional(durationText(eventsWait, 'How long the stream lasts, at most "5m". Default "5m".')),
});
