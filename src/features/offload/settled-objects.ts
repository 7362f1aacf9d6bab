import { milliseconds } from "../../kernel/options/duration.ts";
import type { Settled, Settlement } from "../../kernel/options/types.ts";
import type { StoreRequests } from "./store-requests.ts";

/** Most leases whose objects are remembered. Those of the oldest leases are left to the sweep. */
const MAX_REMEMBERED = 10_000;

/** Removes the objects of tasks that were dequeued and settled in this process. */
export class SettledObjects {
  readonly #requests: StoreRequests;
  /** The keys of objects by receipt, the oldest first. */
  readonly #keys = new Map<string, string>();

  constructor(requests: StoreRequests) {
    this.#requests = requests;
  }

  remember(receipt: string, key: string): void {
    this.#keys.set(receipt, key);
    if (this.#keys.size <= MAX_REMEMBERED) return;
    const [oldest] = this.#keys.keys();
    this.#keys.delete(oldest as string);
  }

  /** Removes the objects of the tasks that keep no payload. Never throws. */
  async remove(settlements: readonly Settlement[], settled: readonly Settled[]): Promise<void> {
    const unneeded: string[] = [];
    for (const [i, result] of settled.entries()) {
      const key = this.#keys.get(result.receipt);
      if (key === undefined || (result.ok && result.state === "working")) continue;
      this.#keys.delete(result.receipt);
      if (keepsNoPayload(settlements[i] as Settlement, result)) unneeded.push(key);
    }
    await this.#requests.deleteIfPossible(unneeded);
  }
}

function keepsNoPayload(settlement: Settlement, result: Settled): boolean {
  if (!result.ok) return false;
  if (result.state === "completed") return true;
  if (result.state !== "rejected") return false;
  if (result.reason === "cancelled") return true;
  return (
    settlement.outcome === "reject" &&
    settlement.ttl !== undefined &&
    milliseconds(settlement.ttl, "ttl") === 0
  );
}
