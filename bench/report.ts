// What the benches share: their options, medians, and a table that can be pasted into a document.

import { parseArgs } from "node:util";

export { printTable } from "./table.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    server: { type: "string" },
  },
});

/** `--quick`: a tenth of the work, to see that a bench runs. Its figures are not to be quoted. */
export const quick = values.quick;

/** `--only`: the one part of a bench that is to run. */
export const only = values.only;

/** `--server`: the program of another Redis or a Valkey, for the benches that take it. @default redis-server */
export const server = values.server;

/** The other arguments, which select cases of a bench. */
export const words = positionals;

/** The median, so that one disturbed round changes nothing. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  const upper = sorted[half] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? Number.NaN) + upper) / 2;
}

/** Says whether a goal of DESIGN's budgets is reached. */
export function printGoal(what: string, figure: string, goal: string, reached: boolean): void {
  console.log(`${reached ? "reached" : "MISSED "}  ${what}: ${figure} (goal: ${goal})`);
}

/** Whole numbers with thousands set apart. */
export function whole(number: number): string {
  return Math.round(number).toLocaleString("en-US");
}

/** A payload of 200 bytes of JSON, as an ordinary task has; the number makes each one different. */
export function payload(number: number): {
  readonly event: string;
  readonly to: string;
  readonly text: string;
} {
  const name = String(number).padStart(7, "0");
  return {
    event: `order-${name}`,
    to: `customer-${name}@example.com`,
    text: "Your order is on its way. ".repeat(5).slice(0, 129),
  };
}
