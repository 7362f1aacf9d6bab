import { defineQueue, NonRetryableError } from "sluice-queue";
import { sluice } from "sluice-queue/cloudflare";

type Env = { MAIL_URL: string; MAIL_KEY: string };

// The id of a mail is refused for a day, even if the mail was sent long before.
export const emails = defineQueue<{ to: string }>("emails", { timeout: "10s", lease: "1m", unique: "24h" });

// The mail service ignores a second request with the same idempotency key.
const sendMail = emails.consumer(async ({ id, payload, signal }, env: Env) => {
  const sent = await fetch(env.MAIL_URL, {
    method: "POST",
    headers: {
      authorization: `Bearer ${env.MAIL_KEY}`,
      "content-type": "application/json",
      "idempotency-key": id,
    },
    body: JSON.stringify(payload),
    signal,
  });
  if (sent.status === 422) throw new NonRetryableError("the mail service refuses the address");
  if (!sent.ok) throw new Error(`HTTP ${sent.status}`);
});

export default sluice<Env>({
  consumers: [sendMail],

  // The id says which mail it is. A second request for the same mail adds nothing.
  async fetch(request, { queue }) {
    const { user, to } = (await request.json()) as { user?: string; to?: string };
    if (!user || !to) return new Response("user and to are required", { status: 400 });
    const { created } = await queue(emails).enqueue({ to }, { id: `welcome-${user}` });
    return Response.json({ created }, { status: created ? 201 : 200 });
  },
});
