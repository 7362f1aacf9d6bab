import { NonRetryableError, type Task } from "sluice-queue";
import { sluice } from "sluice-queue/lambda";

type Env = { MAIL_URL: string };
type Welcome = { to: string };

// The consumer. The key makes it one mail, also when this function dies after sending it.
async function send({ id, payload, signal }: Task<Welcome>, env: Env) {
  const headers = { "content-type": "application/json", "idempotency-key": id };
  const body = JSON.stringify(payload);
  const sent = await fetch(env.MAIL_URL, { method: "POST", headers, body, signal });
  if (sent.status >= 400 && sent.status < 500) throw new NonRetryableError(`HTTP ${sent.status}`);
  if (!sent.ok) throw new Error(`HTTP ${sent.status}`);
}

// What Lambda calls: for requests, and for cron.
export const handler = sluice<Env>({
  consumers: { emails: send },

  // The producer: /signup?to=a@example.com. The id makes it one mail, however often this is called.
  async fetch(request, { queue }) {
    const { pathname, searchParams } = new URL(request.url);
    const to = searchParams.get("to");
    if (pathname !== "/signup" || !to) return new Response("/signup?to=…", { status: 404 });
    const options = { id: `welcome-${encodeURIComponent(to)}` };
    const { id, created } = await queue<Welcome>("emails").enqueue({ to }, options);
    return Response.json({ id, created }, { status: created ? 201 : 200 });
  },
});
