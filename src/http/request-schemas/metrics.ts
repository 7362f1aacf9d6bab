import * as v from "valibot";
import { fields } from "../request/validate.ts";
import { described } from "./values.ts";

const patternForm = "must be a pattern of queue names, such as emails, emails-* or *";

/** The query of the metrics. */
export const metricsQuery = fields({
  queues: v.exactOptional(
    described(
      v.pipe(v.string(), v.regex(/^[A-Za-z0-9_.*-]{1,128}$/, patternForm)),
      "Queues whose names match this pattern, in which `*` matches any characters. Default: all that the token matches.",
    ),
  ),
});
