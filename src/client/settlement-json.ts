import { MAX_BATCH, MAX_PROGRESS_BYTES, MAX_VALUE_BYTES } from "../kernel/options/limits.ts";
import { plainJson } from "../kernel/record/plain-json.ts";
import { listOf, optionsObject } from "../kernel/options/validation.ts";
import type { Settlement } from "../kernel/options/types.ts";
import type { Values } from "../kernel/values/values.ts";
import { onDemand } from "./load.ts";

/**
 * The JSON of a list of settlements.
 * @throws {SluiceError} `invalid_argument` or `too_large` for a result, an error or progress
 */
export async function settlementsJson(values: Values, settlements: readonly Settlement[]): Promise<string> {
  listOf(settlements, "settlements", MAX_BATCH);
  const items = settlements.map(async (settlement, i) => {
    const at = `settlements[${i}]`;
    optionsObject(settlement, at);
    const plain = values.areSealed ? undefined : plainSettlement(settlement);
    return plain ?? (await onDemand()).settlementJson(values, settlement, at);
  });
  return `[${(await Promise.all(items)).join()}]`;
}

function plainSettlement(settlement: Settlement): string | undefined {
  const { outcome, error, backoff } = settlement as Extract<Settlement, { outcome: "requeue" }>;
  if (error instanceof Error || typeof backoff === "function") return undefined;
  // As a whole it is within the limit of its result, or of its error or progress.
  return plainJson(settlement, (outcome as string) === "complete" ? MAX_VALUE_BYTES : MAX_PROGRESS_BYTES);
}
