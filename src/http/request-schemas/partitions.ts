import { MAX_SHARDS } from "../../kernel/names/slots.ts";
import { fields } from "../request/validate.ts";
import { integer } from "./values.ts";

/** The body that changes the number of partitions. */
export const partitionCount = fields({
  count: integer(1, MAX_SHARDS),
});
