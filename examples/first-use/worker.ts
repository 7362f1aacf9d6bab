import { drain, NonRetryableError, Queue, sweep } from "sluice-queue";
import { upstash } from "sluice-queue/upstash";

type Env = { UPSTASH_REDIS_REST_URL: string; UPSTASH_REDIS_REST_TOKEN: string; MAIL_URL: string };

const emails = (env: Env) =>
  new Queue<{ to: string }>("emails", { transport: upstash(env), lease: "1m", unique: "24h" });

export default {
  // The producer: one request to Redis. The id prevents a second mail if the URL is called again that day.
  async fetch(request: Request, env: Env) {
    const to = new URL(request.url).searchParams.get("to");
    if (!to) return new Response("?to= is missing", { status: 400 });
    const { id, created } = await emails(env).enqueue({ to }, { id: `welcome-${encodeURIComponent(to)}` });
    return Response.json({ id, created }, { status: created ? 201 : 200 });
  },

  // Cron, every minute: sweep, then work until the queue is empty or the time is over.
  async scheduled(_event: unknown, env: Env) {
    await sweep(upstash(env), { budget: "10s" });
    const report = await drain(
      emails(env),
      async ({ id, payload, signal }) => {
        const headers = { "content-type": "application/json", "idempotency-key": id };
        const body = JSON.stringify(payload);
        const sent = await fetch(env.MAIL_URL, { method: "POST", headers, body, signal });
        if (sent.status === 422) throw new NonRetryableError("the mail server refuses the address");
        if (!sent.ok) throw new Error(`HTTP ${sent.status}`);
      },
      { budget: "15s", timeout: "10s" },
    );
    console.log(JSON.stringify(report));
  },
};
