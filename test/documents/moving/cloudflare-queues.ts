import { defineQueue, RetryAfter } from "sluice-queue";
import { sluice } from "sluice-queue/cloudflare";

type Env = { MAIL_URL: string };

export const emails = defineQueue<{ to: string }>("emails", {
  maxAttempts: 4, // max_retries = 3
  backoff: ["1m"], // retry_delay = 60
  timeout: "10s",
  schedules: { digest: { cron: "0 9 * * 1", payload: { to: "team@example.com" } } },
});

// Consumer.
const sendMail = emails.consumer(async ({ payload, signal }, env: Env) => {
  const sent = await fetch(env.MAIL_URL, { method: "POST", body: JSON.stringify(payload), signal });
  if (sent.status === 429) throw new RetryAfter("5m"); // message.retry({ delaySeconds: 300 })
  if (!sent.ok) throw new Error(`HTTP ${sent.status}`); // message.retry()
});

export default sluice<Env>({
  consumers: [sendMail],

  // Producer.
  async fetch(request, { queue }) {
    const to = new URL(request.url).searchParams.get("to");
    if (!to) return new Response("?to=…", { status: 404 });
    return Response.json(await queue(emails).enqueue({ to }, { delay: "10m" }));
  },

  // Dead letters.
  onDeadLetter: ({ id, error }) => console.error(id, error?.message),
});
