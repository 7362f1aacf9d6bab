import { Queue } from "sluice-queue";
import type { SqsEvent } from "sluice-queue/sqs";
import { upstash } from "sluice-queue/upstash";
import { emails } from "./sqs.ts";

/** Takes the place of the handler: each message becomes a task with the same id. */
export async function handler({ Records }: SqsEvent) {
  const queue = new Queue(emails, { transport: upstash() });
  // If a message is not acknowledged here, the function fails, and SQS delivers the batch again.
  await Promise.all(
    Records.map(async ({ messageId, body }) => {
      await queue.enqueue(JSON.parse(body) as { to: string }, { id: messageId });
    }),
  );
}
