import * as v from "valibot";
import { fields } from "../request/validate.ts";
import * as durations from "./durations.ts";
import { cursor, described, queueName, whole } from "./values.ts";

const budget = v.exactOptional(
  described(
    durations.budget,
    'How long the sweep may take. Default "20s", or two fifths of the deployment\'s budget if that is less; at most "60s".',
  ),
);

export const sweep = fields({ budget });

export const deepSweep = fields({
  deep: v.literal(true, "must be true, or left out"),
  queue: v.exactOptional(
    described(queueName, "Only this queue, registered or not. Default: all registered queues."),
  ),
  cursor: v.exactOptional(
    v.pipe(cursor, v.description("Where to continue: the `cursor` of the previous response.")),
  ),
  examples: v.exactOptional(
    whole(0, 1_000, "The most ids that are listed for each fault in each queue. Default 10."),
  ),
  budget,
});
