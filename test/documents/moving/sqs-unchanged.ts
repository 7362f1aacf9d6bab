import { drainBatches, Queue, sweep } from "sluice-queue";
import { sqs } from "sluice-queue/sqs";
import { upstash } from "sluice-queue/upstash";
import { handler } from "./sqs-handler.ts";

// EventBridge calls this function each minute. The handler's file is as it was.
export async function cron() {
  const transport = upstash();
  const emails = new Queue("emails", { transport, maxAttempts: 5 });
  await sweep(transport);
  return drainBatches(emails, sqs(handler, { queue: "emails" }), { budget: "50s", batch: 10 });
}
