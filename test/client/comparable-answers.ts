import { type Batch, LeasedTask, SluiceError } from "../../src/index.ts";
import { comparable } from "../support/payloads.ts";

/** Numbers from here on are instants: these tests use no other number as large. */
const FIRST_INSTANT = 1_000_000_000_000;

/**
 * Makes answers comparable between runs: every instant becomes the same text, and generated ids and receipts
 * are numbered in the order in which they occur.
 */
export class ComparableAnswers {
  readonly #numbers = new Map<string, string>();

  of(value: unknown): unknown {
    if (value instanceof Uint8Array) return comparable(value);
    if (value instanceof Date) return { date: value.getTime() };
    if (value instanceof SluiceError) return { threw: value.code, path: value.path };
    if (Array.isArray(value)) {
      const { nextDueAt, paused, invalid } = value as Partial<Batch<unknown>>;
      const items = value.map((item) => this.of(item));
      return paused === undefined ? items : { tasks: items, nextDueAt: this.of(nextDueAt), paused, invalid };
    }
    if (typeof value === "number") return value >= FIRST_INSTANT ? "an instant" : value;
    if (typeof value !== "object" || value === null) return value;
    const parts = Object.entries(value).map(([key, part]) => [key, this.#part(key, part)]);
    // The class is a part of the answer: a task can be settled.
    return { ...Object.fromEntries(parts), ...(value instanceof LeasedTask && { leased: true }) };
  }

  #part(key: string, part: unknown): unknown {
    if (key === "oldestAge") return part === null ? null : "an age";
    const generated = typeof part === "string" && (key === "receipt" || (key === "id" && part.length >= 20));
    if (!generated) return this.of(part);
    const number = this.#numbers.get(part) ?? `${key} ${this.#numbers.size + 1}`;
    this.#numbers.set(part, number);
    return number;
  }
}
