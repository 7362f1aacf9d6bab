import * as v from "valibot";
import { fields } from "../request/validate.ts";
import * as durations from "./durations.ts";
import { cursor, described, queueName, whole } from "./values.ts";

const budget = v.exactOptional(
  described(
    durations.budget,
    'Time that the sweep may take. Default "20s", or two fifths of the deployment\'s budget where that is less; at most "60s".',
  ),
);

export const sweep = fields({ budget });

export const deepSweep = fields({
  deep: v.literal(true, "must be true where it is given"),
  queue: v.exactOptional(
    described(queueName, "This queue only, registered or not. Default: all that are registered."),
  ),
  cursor: v.exactOptional(
    v.pipe(cursor, v.description("Where to go on: the `cursor` of the answer before.")),
  ),
  examples: v.exactOptional(
    whole(0, 1_000, "How many ids are told of each fault in each queue. Default 10."),
  ),
  budget,
});
