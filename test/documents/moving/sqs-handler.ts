import type { SqsEvent } from "sluice-queue/sqs";

/** A function that Lambda calls with messages of SQS. */
export async function handler({ Records }: SqsEvent) {
  const batchItemFailures: { itemIdentifier: string }[] = [];
  for (const { messageId, body } of Records) {
    const sent = await fetch("https://mail.example.com/send", { method: "POST", body });
    if (!sent.ok) batchItemFailures.push({ itemIdentifier: messageId });
  }
  return { batchItemFailures };
}
