import * as v from "valibot";
import { fields } from "../request/validate.ts";
import { queuePattern } from "./values.ts";

/** The query of the metrics. */
export const metricsQuery = fields({
  queues: v.exactOptional(queuePattern),
});
