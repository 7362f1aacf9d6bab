// One short invocation of a consumer, in a process of its own: drains a queue within its budget, and notes
// each delivery.

import { appendFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { drain, Queue, withScaleOut, webhookWaker } from "../../src/index.ts";
import { upstash } from "../../src/transport/upstash.ts";

const { url = "", token = "", wakeUrl = "", secret = "", log = "", budget = "" } = process.env;
const wake = webhookWaker({ url: wakeUrl, secret, window: "1s" });
const queue = new Queue<number>("burst", { transport: upstash({ url, token }), wake, lease: "2s" });

const report = await drain(
  withScaleOut(queue),
  async ({ id, payload }) => {
    appendFileSync(log, `${id}\n`);
    await setTimeout(20 + (payload % 20));
    return payload;
  },
  { budget: Number(budget), batch: 100, concurrency: 50 },
);
if (report.ended === "budget") await queue.wakeAnother();
