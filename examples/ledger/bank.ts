import { setTimeout as sleep } from "node:timers/promises";
import { applied, type Entry } from "./entries.ts";

/**
 * The accounts of a bank without transactions: between the read of a balance and its write, time passes. Two entries of
 * an account at once would lose one of them.
 */
export class Bank {
  readonly balances = new Map<string, number>();
  /** How many attempts have failed. */
  failures = 0;
  readonly #busy = new Set<string>();
  /** How many entries of an account began while another one was applied. */
  overlaps = 0;

  /** Each seventh entry fails at first, and each thirty-first twice. */
  async apply(entry: Entry, attempt: number): Promise<void> {
    const { account, number } = entry;
    if (this.#busy.has(account)) this.overlaps += 1;
    this.#busy.add(account);
    try {
      const balance = this.balances.get(account) ?? 0;
      await sleep(2);
      if ((number % 7 === 6 && attempt === 1) || (number % 31 === 30 && attempt < 3)) {
        this.failures += 1;
        throw new Error("the bank is busy");
      }
      this.balances.set(account, applied(balance, entry));
    } finally {
      this.#busy.delete(account);
    }
  }
}
