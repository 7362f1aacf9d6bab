import { MAX_SHARDS } from "../../kernel/names/slots.ts";
import { wholeNumber } from "../../kernel/options/validation.ts";

/** @throws {SluiceError} `invalid_argument` */
export function partitionCount(value: unknown, path = "partitions"): number {
  return wholeNumber(value, path, 1, MAX_SHARDS);
}
