import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { dollars } from "../../src/local/index.ts";

// What tests that measure commands expect of docs/costs.md and of other pages with prices.

const read = (page: string) => readFileSync(new URL(`../../${page}`, import.meta.url), "utf8");
export const prose = (page: string): string => read(page).replaceAll(/\s+/g, " ");

/** The cells of the first row of a page that contains these words. */
export const row = (page: string, words: string): string[] | undefined =>
  read(page)
    .split("\n")
    .find((line) => line.startsWith("|") && line.includes(words))
    ?.split("|")
    .slice(2, -1)
    .map((cell) => cell.trim());

export const minutesOfMonth = 60 * 24 * 30;

/** The commands of a month in which nothing happens while records are kept, which test/proofs/budget/examples.test.ts asserts. */
export function idleCommands(): number {
  const [, commands = ""] = /tenth minute: ([\d,]+) a month/.exec(prose("docs/costs.md")) ?? [];
  return Number(commands.replaceAll(",", ""));
}

/** What each further queue with records and a consumer costs a minute: 6, and in each tenth minute 10. */
const FURTHER_QUEUE = 6.4;

export const million = (commands: number): string => dollars(commands * 1_000_000).toFixed(2);
export const price = (commands: number): string[] => [String(commands), million(commands)];

/** Expects that docs/costs.md has this example with so many tasks a month, of so many commands each. */
export function expectRow(example: string, tasks: number, each: number, queues = 1): void {
  const idle = idleCommands() + (queues - 1) * FURTHER_QUEUE * minutesOfMonth;
  const numbers = [tasks, each, tasks * each, idle].map((number) => number.toLocaleString("en"));
  const sum = dollars(tasks * each + idle).toFixed(2);
  expect(row("docs/costs.md", `| ${example}`)).toEqual([...numbers, sum]);
}
