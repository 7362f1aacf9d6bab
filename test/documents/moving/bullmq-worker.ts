import { defineQueue, NonRetryableError } from "sluice-queue";
import { serve } from "sluice-queue/node";

type Email = { to: string };

// What BullMQ has at the job, the worker and the scheduler is in one place.
export const emails = defineQueue<Email>("emails", {
  maxAttempts: 5,
  backoff: { base: "1s", factor: 2 },
  timeout: "30s",
  rate: { most: 10, per: "1s" },
  schedules: {
    digest: { cron: "0 9 * * 1", timeZone: "Europe/Berlin", payload: { to: "team@example.com" } },
  },
});

// Consumer.
export const sendMail = emails.consumer(
  async ({ payload, signal }) => {
    const body = JSON.stringify(payload);
    const sent = await fetch("https://mail.example.com/send", { method: "POST", body, signal });
    if (sent.status === 422) throw new NonRetryableError("the address is refused");
    if (!sent.ok) throw new Error(`HTTP ${sent.status}`);
  },
  { concurrency: 5 },
);

// Dead letters.
await serve({
  consumers: [sendMail],
  onDeadLetter: ({ id, error }) => console.error(id, error?.message),
});

// Producer: a task after ten minutes.
await emails.enqueue({ to: "a@example.com" }, { id: "welcome-17", delay: "10m" });
