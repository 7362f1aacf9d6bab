import { MAX_PARTITIONS } from "../core/partition-slots.ts";
import { wholeNumber } from "../core/validation.ts";

/** @throws {SluiceError} `invalid_argument` */
export function partitionCount(value: unknown, path = "partitions"): number {
  return wholeNumber(value, path, 1, MAX_PARTITIONS);
}
