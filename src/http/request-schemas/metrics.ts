import * as v from "valibot";
import { fields } from "../request/validate.ts";

const patternForm = "must be a pattern of queue names, such as emails, emails-* or *";

/** The query of the metrics. */
export const metricsQuery = fields({
  queues: v.exactOptional(v.pipe(v.string(), v.regex(/^[A-Za-z0-9_.*-]{1,128}$/, patternForm))),
});
