import { NonRetryableError, type Task } from "sluice-queue";
import { serve } from "sluice-queue/bun";

type Env = { MAIL_URL: string };
type Welcome = { to: string };

// The consumer. The idempotency key prevents a second mail if the process crashes after sending.
async function send({ id, payload, signal }: Task<Welcome>, env: Env) {
  const headers = { "content-type": "application/json", "idempotency-key": id };
  const body = JSON.stringify(payload);
  const sent = await fetch(env.MAIL_URL, { method: "POST", headers, body, signal });
  if (sent.status >= 400 && sent.status < 500) throw new NonRetryableError(`HTTP ${sent.status}`);
  if (!sent.ok) throw new Error(`HTTP ${sent.status}`);
}

// Serves requests and runs cron every minute, until SIGTERM or Ctrl-C.
const { url } = await serve<Env>({
  consumers: { emails: send },

  // The producer: /signup?to=a@example.com. The id prevents a second mail if the URL is called again.
  async fetch(request, { queue }) {
    const { pathname, searchParams } = new URL(request.url);
    const to = searchParams.get("to");
    if (pathname !== "/signup" || !to) return new Response("/signup?to=…", { status: 404 });
    const options = { id: `welcome-${encodeURIComponent(to)}` };
    const { id, created } = await queue<Welcome>("emails").enqueue({ to }, options);
    return Response.json({ id, created }, { status: created ? 201 : 200 });
  },
});

console.log(`listening at ${url}`);
