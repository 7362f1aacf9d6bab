import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { Bank } from "../../examples/ledger/bank.ts";
import { balancesOf, makeEntries } from "../../examples/ledger/entries.ts";

const run = promisify(execFile);
const program = fileURLToPath(new URL("../../examples/ledger/run.ts", import.meta.url));

test("the ledger applies the entries of each account in order, through failures and a consumer that dies", async () => {
  const { stdout } = await run(process.execPath, [program, "--accounts", "12", "--entries", "32"]);
  expect(stdout.replace(/On Upstash.*\n/, "").replace(/\d+ attempts/, "some attempts")).toBe(
    [
      "A consumer has died with 3 entries. Their accounts wait until its leases expire.",
      "384 entries of 12 accounts were applied; some attempts failed and were repeated.",
      "12 balances are as if one entry was applied after the other, 0 are not.",
      "0 entries began before the one ahead of them had ended; 0 tasks are left.",
      "",
    ].join("\n"),
  );
  expect(stdout).toMatch(
    /On Upstash: [\d.]+ requests and [\d.]+ billed commands an entry, \$[\d.]+ a million\./,
  );
});

test("the order of the entries matters, and the bank loses entries that are applied side by side", async () => {
  const entries = makeEntries(1, 40);
  expect(balancesOf(entries.toReversed())).not.toEqual(balancesOf(entries));
  const bank = new Bank();
  await Promise.all(entries.map((entry) => bank.apply(entry, 3)));
  expect(bank.overlaps).toBe(39);
  expect(bank.balances).not.toEqual(balancesOf(entries));
});
