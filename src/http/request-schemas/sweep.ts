import * as v from "valibot";
import { fields } from "../request/validate.ts";
import * as durations from "./durations.ts";
import { cursor, queueName, integer } from "./values.ts";

const budget = v.exactOptional(durations.budget);

export const sweep = fields({ budget });

export const deepSweep = fields({
  deep: v.literal(true, "must be true, or left out"),
  queue: v.exactOptional(queueName),
  cursor: v.exactOptional(cursor),
  examples: v.exactOptional(integer(0, 1_000)),
  budget,
});
