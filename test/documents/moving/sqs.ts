import { defineQueue } from "sluice-queue";
import { sluice } from "sluice-queue/lambda";

type Email = { to: string };

export const emails = defineQueue<Email>("emails", {
  maxAttempts: 5,
  lease: "30s",
  timeout: "20s",
  schedules: { digest: { cron: "0 9 * * 1", payload: { to: "team@example.com" } } },
});

// Consumer: called with each task. If it throws, the task is tried again.
const sendMail = emails.consumer(async ({ payload, signal }) => {
  const body = JSON.stringify(payload);
  const sent = await fetch("https://mail.example.com/send", { method: "POST", body, signal });
  if (!sent.ok) throw new Error(`HTTP ${sent.status}`);
});

export const handler = sluice({
  consumers: [sendMail],

  // Producer.
  async fetch(request, { queue }) {
    const { user, to } = (await request.json()) as { user: string; to: string };
    const options = { id: `welcome-${user}`, group: user, delay: "10m" } as const;
    return Response.json(await queue(emails).enqueue({ to }, options));
  },

  // Dead letters.
  onDeadLetter: ({ id, error }) => console.error(id, error?.message),
});
