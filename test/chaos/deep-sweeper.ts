// A deep sweeper: looks at every queue again and again while others work. Redis loses nothing here that it acknowledged, so
// whatever is reported is a fault of the sweep, or of the queue.

import { setTimeout as sleep } from "node:timers/promises";
import { deepSweep } from "../../src/index.ts";
import { Part } from "./part.ts";
import { QUEUES } from "./work.ts";

const part = new Part();
const transport = part.transport();
while (!part.ending.aborted) {
  for (const queue of Object.values(QUEUES)) {
    try {
      const { faults, failed } = await deepSweep(transport, { queue, signal: part.ending });
      for (const found of [...faults, ...failed])
        part.ledger.write({ what: "broken", error: `a deep sweep reported ${JSON.stringify(found)}` });
    } catch (error) {
      part.met(error);
    }
  }
  await sleep(100);
}
