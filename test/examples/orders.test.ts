import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { million } from "../support/costs-page.ts";
import { outputShown } from "./shown.ts";

const run = promisify(execFile);
const program = fileURLToPath(new URL("../../examples/orders/run.ts", import.meta.url));

test("orders reach three subscribers while the fourth is down, at the price that the page shows", async () => {
  const { stdout } = await run(process.execPath, [program]);
  const shown = outputShown("orders");
  const reports = (output: string) => output.replace(/On Upstash.*\n/, "");
  expect(reports(stdout)).toBe(reports(shown));
  for (const output of [shown, stdout]) {
    const [, commands, dollars] =
      /([\d.]+) billed commands an order, \$([\d.]+) a million/.exec(output) ?? [];
    // Fuller batches cannot be had; how full they are depends on the machine.
    expect(Number(commands)).toBeGreaterThanOrEqual(0.9);
    expect(Number(commands)).toBeLessThan(3);
    expect(Math.abs(Number(dollars) - Number(million(Number(commands))))).toBeLessThanOrEqual(0.011);
  }
});
