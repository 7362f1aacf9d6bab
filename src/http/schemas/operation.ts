import * as v from "valibot";
import { fields } from "../validate.ts";
import { described, duration } from "./values.ts";

export const sweep = fields({
  budget: v.exactOptional(described(duration, 'Time that the sweep may take. Default "20s", at most "60s".')),
});
