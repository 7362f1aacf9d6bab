import { MAX_BATCH } from "../kernel/options/limits.ts";
import type { InFlightTask } from "./in-flight-task.ts";
import { extension, type SizedSettlement } from "./to-settlement.ts";

/** Most bytes of one request. Upstash takes 10 MB, and JSON within JSON has up to twice its length. */
const MOST_BYTES = 4_000_000;

/** The longest time that a settlement waits for others, ms. */
const LONGEST_WAIT = 1_000;

/** A settlement of one request. An extend also names its task. */
export interface OutgoingSettlement<T> extends SizedSettlement {
  readonly extendedTask?: InFlightTask<T>;
}

/** The settlements of finished tasks, until Redis has answered. */
export class SettlementBuffer<T> {
  readonly #settlements: SizedSettlement[] = [];
  #bytes = 0;
  #dueAt = Number.POSITIVE_INFINITY;

  get size(): number {
    return this.#settlements.length;
  }

  /** Whether one request can take all settlements. */
  get fitsOneRequest(): boolean {
    return this.size <= MAX_BATCH && this.#bytes <= MOST_BYTES;
  }

  /** When a settlement must be sent, on the clock of `performance.now()`; Infinity if the buffer is empty. */
  get dueAt(): number {
    return this.#dueAt;
  }

  /** When the first of the settlements must have been sent: see {@link SizedSettlement.settleBy}. */
  get settleBy(): number {
    return Math.min(...this.#settlements.map(({ settleBy = Infinity }) => settleBy), Infinity);
  }

  /** The settlements, the oldest first. */
  [Symbol.iterator](): Iterator<SizedSettlement> {
    return this.#settlements.values();
  }

  /** @param extendAt when the task's lease would have to be extended */
  add(settlement: SizedSettlement, extendAt: number): void {
    this.#dueAt = Math.min(this.#dueAt, extendAt, performance.now() + LONGEST_WAIT);
    this.#settlements.push(settlement);
    this.#bytes += settlement.bytes;
  }

  /** Lets no settlement wait for others. */
  settleSoon(): void {
    if (this.size > 0) this.#dueAt = 0;
  }

  /** Removes what one request sends: extends first, since they cannot wait. */
  take(tasksToExtend: readonly InFlightTask<T>[]): OutgoingSettlement<T>[] {
    const taken: OutgoingSettlement<T>[] = tasksToExtend
      .slice(0, MAX_BATCH)
      .map((task) => ({ ...extension(task.leased), extendedTask: task }));
    let bytes = 0;
    let count = 0;
    for (const settlement of this.#settlements) {
      bytes += settlement.bytes;
      if (taken.length === MAX_BATCH || (count > 0 && bytes > MOST_BYTES)) break;
      taken.push(settlement);
      count++;
    }
    for (const { bytes: sent } of this.#settlements.splice(0, count)) this.#bytes -= sent;
    if (this.#settlements.length === 0) this.#dueAt = Number.POSITIVE_INFINITY;
    return taken;
  }

  /**
   * Puts back what a failed request took. If Redis settled it after all, sending it again changes nothing.
   */
  putBack(taken: readonly OutgoingSettlement<T>[]): void {
    for (const settlement of taken) {
      if (!settlement.extendedTask) this.add(settlement, Number.POSITIVE_INFINITY);
    }
  }
}
