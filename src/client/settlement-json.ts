import { MAX_BATCH } from "../queue/core/limits.ts";
import { listOf, optionsObject } from "../queue/core/validation.ts";
import type { Settlement } from "../queue/core/types.ts";
import type { ValuesQueue } from "../queue/values/encryption.ts";
import { plainJson } from "./json.ts";
import { onDemand } from "./load.ts";

/**
 * The JSON of a list of settlements.
 * @throws {SluiceError} `invalid_argument` or `too_large` for a result, an error or progress
 */
export async function settlementsJson(
  queue: ValuesQueue,
  settlements: readonly Settlement[],
): Promise<string> {
  listOf(settlements, "settlements", MAX_BATCH);
  const items = settlements.map(async (settlement, i) => {
    const at = `settlements[${i}]`;
    optionsObject(settlement, at);
    const plain = queue.encryption ? undefined : plainSettlement(settlement);
    return plain ?? (await onDemand()).settlementJson(queue, settlement, at);
  });
  return `[${(await Promise.all(items)).join()}]`;
}

function plainSettlement(settlement: Settlement): string | undefined {
  const { outcome, error, backoff } = settlement as Extract<Settlement, { outcome: "requeue" }>;
  if (error instanceof Error || typeof backoff === "function") return undefined;
  return plainJson(settlement, (outcome as string) === "complete" ? MAX_RESULT : MAX_OTHER);
}

/** Up to so many bytes a settlement is within the limit of its result; of its error or progress. */
const MAX_RESULT = 1_048_576;
const MAX_OTHER = 1_024;
