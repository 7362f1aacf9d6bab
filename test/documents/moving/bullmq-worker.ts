import { NonRetryableError } from "sluice-queue";
import { serve } from "sluice-queue/node";
import { emails } from "./bullmq-emails.ts";

// Consumer.
const sendMail = emails.consumer(
  async ({ payload, signal }) => {
    const body = JSON.stringify(payload);
    const sent = await fetch("https://mail.example.com/send", { method: "POST", body, signal });
    if (sent.status === 422) throw new NonRetryableError("the address is refused");
    if (!sent.ok) throw new Error(`HTTP ${sent.status}`);
  },
  { concurrency: 5 },
);

await serve({
  consumers: [sendMail],

  // Dead letters.
  onDeadLetter: ({ id, error }) => console.error(id, error?.message),
});
