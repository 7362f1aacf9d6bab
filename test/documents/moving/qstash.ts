import { defineQueue } from "sluice-queue";
import { sluice } from "sluice-queue/vercel";

export const emails = defineQueue<{ to: string }>("emails", {
  maxAttempts: 4, // retries: 3
  backoff: ["12s", "148s", "30m"],
  timeout: "30s",
  rate: { most: 10, per: "1s" }, // flowControl: { rate: 10 }
  schedules: { digest: { cron: "0 9 * * 1", payload: { to: "team@example.com" } } },
});

// Consumer: the code of the endpoint, without the check of the signature.
const sendMail = emails.consumer(async ({ payload, signal }) => {
  const body = JSON.stringify(payload);
  const sent = await fetch("https://mail.example.com/send", { method: "POST", body, signal });
  if (!sent.ok) throw new Error(`HTTP ${sent.status}`);
});

export const { GET, POST } = sluice({
  consumers: [sendMail],

  // Producer.
  async fetch(request, { queue }) {
    const { user, to } = (await request.json()) as { user: string; to: string };
    const { id } = await queue(emails).enqueue({ to }, { id: `welcome-${user}`, delay: "1m", unique: "90d" });
    return Response.json({ id });
  },

  // Dead letters, in place of a failureCallback.
  onDeadLetter: ({ id, error }) => console.error(id, error?.message),
});
