import * as v from "valibot";
import { taskStates } from "../../kernel/options/types.ts";
import { fields } from "../request/validate.ts";
import { cursor, queuePattern, size } from "./values.ts";

const textForm = "must be a string of 1 to 1000 characters";

/** The query of a search. */
export const searchQuery = fields({
  text: v.pipe(v.string(textForm), v.minLength(1, textForm), v.maxLength(1_000, textForm)),
  queues: v.exactOptional(queuePattern),
  state: v.exactOptional(v.picklist(taskStates, `must be one of ${taskStates.join(", ")}`)),
  size: v.exactOptional(size),
  cursor: v.exactOptional(cursor),
});
