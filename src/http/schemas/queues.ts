import * as v from "valibot";
import { fields } from "../validate.ts";
import { cursor } from "./values.ts";

/** Of the list of queues. */
export const queuesQuery = fields({ cursor: v.exactOptional(cursor) });
