import { MAX_PARTITIONS } from "../../queue/core/partition-slots.ts";
import { fields } from "../request/validate.ts";
import { whole } from "./values.ts";

/** The body that changes the number of partitions. */
export const partitionCount = fields({
  count: whole(1, MAX_PARTITIONS, "How many partitions new tasks are to go to."),
});
