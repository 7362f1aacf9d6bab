import * as v from "valibot";
import { described } from "./values.ts";

export const declared = v.object({
  queue: v.string(),
  status: described(
    v.picklist(["applied", "unchanged", "deferred"]),
    "`unchanged`: the same declaration had been applied before. `deferred`: another caller is applying one.",
  ),
});
