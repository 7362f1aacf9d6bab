// A sweeper: does what cron does each minute, some times a second.

import { setTimeout as sleep } from "node:timers/promises";
import { flows } from "../../../src/http/flows/index.ts";
import { sweep } from "../../../src/index.ts";
import { RunProcess } from "./run-process.ts";

const runProcess = new RunProcess();
const transport = runProcess.transport();
while (!runProcess.ending.aborted) {
  try {
    const { failed } = await sweep(transport, { budget: "5s", also: [flows] });
    // A queue that could not be swept because Redis was down is left to the next sweep.
    const faults = failed.filter(({ code }) => code !== "redis_unreachable");
    if (faults.length > 0)
      runProcess.ledger.write({ what: "broken", error: `a sweep met ${JSON.stringify(faults)}` });
  } catch (error) {
    runProcess.met(error);
  }
  await sleep(300);
}
await runProcess.close();
