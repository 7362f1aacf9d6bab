// The ledger example: entries of accounts, applied in strict order by three consumers at once, with failures, retries and
// a consumer that dies. At the end each balance must be that of a bank which applies one entry after the other.
// `node examples/ledger/run.ts` runs it on the embedded store, behind a gateway that counts commands as Upstash does.

import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { applyQueues, defineQueue, drain, Queue, sweep } from "../../src/index.ts"; // elsewhere: "sluice-queue"
import { linked } from "../../src/features/linked/index.ts"; // elsewhere: "sluice-queue/linked"
import { dollars, startGateway } from "../../src/local/index.ts";
import { upstash } from "../../src/transports/upstash.ts"; // elsewhere: "sluice-queue/upstash"
import { Bank } from "./bank.ts";
import { balancesOf, type Entry, makeEntries } from "./entries.ts";

const { values } = parseArgs({
  options: { accounts: { type: "string", default: "40" }, entries: { type: "string", default: "40" } },
});
const entries = makeEntries(Number(values.accounts), Number(values.entries));
const gateway = await startGateway();

const declared = defineQueue<Entry>("ledger", { order: "strict", lease: "1s" });
// A deployment does both by itself.
const transport = linked(upstash({ url: gateway.url, token: gateway.token }));
await applyQueues(transport, [declared]);
const ledger = new Queue(declared, { transport });

gateway.resetUsage();
for (let from = 0; from < entries.length; from += 100) {
  const tasks = entries.slice(from, from + 100).map((entry) => ({
    payload: entry,
    // A second enqueue of the same entry adds nothing.
    id: `${entry.account}-${entry.number}`,
    group: entry.account,
  }));
  await ledger.enqueueMany(tasks);
}

const bank = new Bank();
const died = await ledger.dequeue({ max: 3 });
console.log(`A consumer has died with ${died.length} entries. Their accounts wait until its leases expire.`);

/** A consumer that works until all entries are applied. */
async function consume(): Promise<void> {
  for (;;) {
    const { nextDueAt } = await drain(ledger, ({ payload, attempt }) => bank.apply(payload, attempt), {
      budget: "20s",
      concurrency: 20,
      backoff: { base: "50ms", factor: 2, most: "200ms" },
    });
    if (nextDueAt === null) return;
    // A function ends here. Cron or an alarm starts it again, for retries and expired leases.
    await sleep(Math.max(100, nextDueAt - Date.now()));
  }
}
await Promise.all([consume(), consume(), consume()]);
await sweep(transport);

const { pending, delayed, working, rejected } = await ledger.counts();
const left = pending + delayed + working + rejected;
const serial = balancesOf(entries);
const wrong = [...serial].filter(([account, balance]) => bank.balances.get(account) !== balance);
const { requests, commands } = gateway.usage();
const a = (total: number) => (total / entries.length).toFixed(2);
console.log(
  [
    `${entries.length} entries of ${serial.size} accounts were applied; ${bank.failures} attempts failed and were repeated.`,
    `${serial.size - wrong.length} balances are as if one entry was applied after the other, ${wrong.length} are not.`,
    `${bank.overlaps} entries began before the one ahead of them had ended; ${left} tasks are left.`,
    `On Upstash: ${a(requests)} requests and ${a(commands)} billed commands an entry, $${dollars((commands * 1e6) / entries.length).toFixed(2)} a million.`,
  ].join("\n"),
);
await gateway.close();
process.exit(wrong.length + bank.overlaps + left === 0 ? 0 : 1);
