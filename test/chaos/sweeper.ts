// A sweeper: what cron does each minute, some times a second.

import { setTimeout as sleep } from "node:timers/promises";
import { sweep } from "../../src/index.ts";
import { Part } from "./part.ts";

const part = new Part();
const transport = part.transport();
while (!part.ending.aborted) {
  try {
    const { failed } = await sweep(transport, { budget: "5s" });
    // Of one whose queue could not be swept for want of Redis the next sweep takes care.
    const faults = failed.filter(({ code }) => code !== "redis_unreachable");
    if (faults.length > 0)
      part.ledger.write({ what: "broken", error: `a sweep met ${JSON.stringify(faults)}` });
  } catch (error) {
    part.met(error);
  }
  await sleep(300);
}
