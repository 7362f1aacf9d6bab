import { Queue } from "sluice-queue";
import type { SqsEvent } from "sluice-queue/sqs";
import { upstash } from "sluice-queue/upstash";

const emails = () => new Queue("emails", { transport: upstash() });

/** Takes the place of the handler: each message becomes a task with the same id. */
export async function handler({ Records }: SqsEvent) {
  await emails().enqueueMany(
    Records.map(({ messageId, body }) => ({ id: messageId, payload: JSON.parse(body) as unknown })),
  );
}
