import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { million, row } from "../support/costs-page.ts";

const readmeOf = (example: string) =>
  readFileSync(new URL(`../../examples/${example}/README.md`, import.meta.url), "utf8");

/** The output of an example that its README shows. */
export const outputShown = (example: string): string =>
  /\n```\n([\s\S]*?)```\n/.exec(readmeOf(example))?.[1] ?? "";

/**
 * Expects that an output has a price in line with its commands, which are no fewer than those of full batches, as
 * docs/costs.md has them; and that the README has the latter. How full the batches of a run are depends on the machine.
 */
export function expectPrice(example: string, output: string, of: string): void {
  const [, best = ""] = row("docs/costs.md", `| ${of}`) ?? [];
  expect(readmeOf(example)).toContain(`[${best}](../../docs/costs.md#six-examples)`);
  const [, commands, dollars] =
    /([\d.]+) (?:billed )?commands an? \w+, \$([\d.]+) a million/.exec(output) ?? [];
  expect(Number(commands)).toBeGreaterThanOrEqual(Number(best));
  expect(Math.abs(Number(dollars) - Number(million(Number(commands))))).toBeLessThanOrEqual(0.011);
}
