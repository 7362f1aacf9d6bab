// A deep sweeper: checks queues again and again while others work. Redis loses nothing here that it
// acknowledged, so whatever is reported is a fault of the sweep, or of the queue. Its style: `all` checks
// every queue, through the gateway; `slow` checks the queue with few leases, past the gateway, and leaves
// others time between its requests.

import { setTimeout as sleep } from "node:timers/promises";
import { deepSweep, type Transport } from "../../../src/index.ts";
import { resp } from "../../../src/transports/resp.ts";
import { RunProcess } from "./run-process.ts";
import { QUEUES } from "./work.ts";

const runProcess = new RunProcess();
const direct = resp(runProcess.env.CHAOS_REDIS);
const slow: Transport = {
  async send(commands, options) {
    await sleep(runProcess.roll(15));
    return direct.send(commands, options);
  },
};
const isSlow = runProcess.style === "slow";
const transport = isSlow ? slow : runProcess.transport();
const queues = isSlow ? [QUEUES.recalled] : Object.values(QUEUES);
while (!runProcess.ending.aborted) {
  for (const queue of queues) {
    try {
      const { faults, failed } = await deepSweep(transport, { queue, signal: runProcess.ending });
      for (const found of [...faults, ...failed])
        runProcess.ledger.write({ what: "broken", error: `a deep sweep reported ${JSON.stringify(found)}` });
    } catch (error) {
      runProcess.met(error);
    }
  }
  await sleep(100);
}
await direct.close();
await runProcess.close();
