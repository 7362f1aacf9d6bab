import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { Bank } from "../../examples/ledger/bank.ts";
import { balancesOf, makeEntries } from "../../examples/ledger/entries.ts";
import { expectPrice, outputShown } from "./shown.ts";

const run = promisify(execFile);
const program = fileURLToPath(new URL("../../examples/ledger/run.ts", import.meta.url));

test("the ledger applies the entries of each account in order, through failures and a consumer that dies", async () => {
  const { stdout } = await run(process.execPath, [program, "--accounts", "12", "--entries", "32"]);
  const withoutFigures = (output: string) =>
    output.replace(/On Upstash.*\n/, "").replace(/\d+ attempts/, "some attempts");
  const shown = outputShown("ledger");
  expect(withoutFigures(stdout)).toBe(
    withoutFigures(shown)
      .replace("1600", "384")
      .replace("of 40 accounts", "of 12 accounts")
      .replace("40 balances", "12 balances"),
  );
  for (const output of [shown, stdout]) expectPrice("ledger", output, "a ledger");
});

test("the order of the entries matters, and the bank loses entries that are applied side by side", async () => {
  const entries = makeEntries(1, 40);
  expect(balancesOf(entries.toReversed())).not.toEqual(balancesOf(entries));
  const bank = new Bank();
  await Promise.all(entries.map((entry) => bank.apply(entry, 3)));
  expect(bank.overlaps).toBe(39);
  expect(bank.balances).not.toEqual(balancesOf(entries));
});
