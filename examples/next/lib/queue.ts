import { defineQueue, NonRetryableError } from "sluice-queue";
import { sluice } from "sluice-queue/next";

type Env = { MAIL_URL: string };

// A mail may take ten seconds. The id of a mail is refused for a day.
export const emails = defineQueue<{ to: string }>("emails", { timeout: "10s", unique: "24h" });

// The consumer. The idempotency key prevents a second mail if the consumer crashes after sending.
const sendWelcome = emails.consumer(async ({ id, payload, signal }, env: Env) => {
  const headers = { "content-type": "application/json", "idempotency-key": id };
  const body = JSON.stringify(payload);
  const sent = await fetch(env.MAIL_URL, { method: "POST", headers, body, signal });
  if (sent.status === 422) throw new NonRetryableError("the mail server refuses the address");
  if (!sent.ok) throw new Error(`HTTP ${sent.status}`);
});

export const { handlers, queue } = sluice<Env>({ consumers: [sendWelcome] });
