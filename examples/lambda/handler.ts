import { defineQueue, NonRetryableError } from "sluice-queue";
import { sluice } from "sluice-queue/lambda";

type Env = { MAIL_URL: string };

// A mail may take ten seconds. The id of a mail is refused for a day.
const emails = defineQueue<{ to: string }>("emails", { timeout: "10s", unique: "24h" });

// The consumer. The idempotency key prevents a second mail if the consumer crashes after sending.
const sendWelcome = emails.consumer(async ({ id, payload, signal }, env: Env) => {
  const headers = { "content-type": "application/json", "idempotency-key": id };
  const body = JSON.stringify(payload);
  const sent = await fetch(env.MAIL_URL, { method: "POST", headers, body, signal });
  if (sent.status === 422) throw new NonRetryableError("the mail server refuses the address");
  if (!sent.ok) throw new Error(`HTTP ${sent.status}`);
});

export const handler = sluice<Env>({
  consumers: [sendWelcome],

  // The producer: /signup?to=a@example.com. The id prevents a second mail if the URL is called again that day.
  async fetch(request, { queue }) {
    const { pathname, searchParams } = new URL(request.url);
    const to = searchParams.get("to");
    if (pathname !== "/signup" || !to) return new Response("/signup?to=…", { status: 404 });
    const options = { id: `welcome-${encodeURIComponent(to)}` };
    const { id, created } = await queue(emails).enqueue({ to }, options);
    return Response.json({ id, created }, { status: created ? 201 : 200 });
  },
});
