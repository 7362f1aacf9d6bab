import * as v from "valibot";
import { fields } from "../validate.ts";
import { duration } from "./values.ts";

/** Longest that a request for a task may take, ms: what every platform allows. */
export const longestWatch = 60_000;

/** Longest that a stream of a queue's events may take, ms. */
export const longestEvents = 300_000;

/** A duration as a query has it. */
const durationText = (meaning: string) =>
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
      'How long the request may take, at most "60s". Without it the answer comes at once, and a stream lasts for 60 seconds.',
    ),
  ),
});

/** Of a queue's events. */
export const eventsQuery = fields({
  wait: v.exactOptional(durationText('How long the stream lasts, at most "5m". Default "5m".')),
});
