import type { InFlightTask } from "./in-flight-task.ts";
import { extension, type Sendable } from "./to-settlement.ts";

/** Most of one request. JSON within JSON has up to twice its length, and Upstash takes 10 MB. */
const MOST_ITEMS = 1_000;
const MOST_BYTES = 4_000_000;

/** How long a settlement may wait for company, ms. */
const WITHIN = 1_000;

/** A settlement, and of an extend the task that it is for. */
export interface Item<T> extends Sendable {
  readonly extends?: InFlightTask<T>;
}

/** The settlements of what is finished, until Redis has answered. */
export class SettlementBuffer<T> {
  readonly #items: Sendable[] = [];
  #dueAt = Number.POSITIVE_INFINITY;

  get size(): number {
    return this.#items.length;
  }

  /** When one has to go, on the clock of `performance.now()`; Infinity where none is there. */
  get dueAt(): number {
    return this.#dueAt;
  }

  /** @param by when its lease would have to be extended */
  add(item: Sendable, by: number): void {
    this.#dueAt = Math.min(this.#dueAt, by, performance.now() + WITHIN);
    this.#items.push(item);
  }

  /** What one request takes: extends first, for they cannot wait. */
  take(renewals: readonly InFlightTask<T>[]): Item<T>[] {
    const taken: Item<T>[] = renewals
      .slice(0, MOST_ITEMS)
      .map((held) => ({ ...extension(held.task), extends: held }));
    let bytes = 0;
    let count = 0;
    for (const item of this.#items) {
      bytes += item.bytes;
      if (taken.length === MOST_ITEMS || (count > 0 && bytes > MOST_BYTES)) break;
      taken.push(item);
      count++;
    }
    this.#items.splice(0, count);
    if (this.#items.length === 0) this.#dueAt = Number.POSITIVE_INFINITY;
    return taken;
  }

  /** After a request that failed, what it took. Where it was settled all the same, sending it again does no harm. */
  putBack(items: readonly Item<T>[]): void {
    for (const item of items) {
      if (!item.extends) this.add(item, Number.POSITIVE_INFINITY);
    }
  }
}
