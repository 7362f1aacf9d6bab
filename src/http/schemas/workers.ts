import * as v from "valibot";
import { fields } from "../validate.ts";
import { described, duration, name, whole } from "./values.ts";

const nodeWords = "must be a text of at most 128 characters";

/** One process that works. */
export const worker = fields({
  name: described(name, "What the worker is called."),
  incarnation: v.exactOptional(
    described(name, "Tells this process from its predecessors of the same name. A new one for each start."),
  ),
  node: v.exactOptional(
    v.pipe(
      v.string(nodeWords),
      v.maxLength(128, nodeWords),
      v.description("The machine, for people to read."),
    ),
  ),
  pid: v.exactOptional(whole(0, Number.MAX_SAFE_INTEGER, "The process on it.")),
  silentAfter: v.exactOptional(
    described(
      duration,
      "After so long without a pull or heartbeat a sweep gives its tasks back. Default: never; its leases end one by one.",
    ),
  ),
});
