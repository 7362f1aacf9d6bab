import { Queue, sweep, type Settlement } from "sluice-queue";
import { upstash } from "sluice-queue/upstash";

type Env = { UPSTASH_REDIS_REST_URL: string; UPSTASH_REDIS_REST_TOKEN: string; MAIL_URL: string };
type Welcome = { to: string };

const emails = (env: Env) =>
  new Queue<Welcome>("emails", { transport: upstash(env), lease: "1m", maxAttempts: 5 });

async function send({ to }: Welcome, id: string, env: Env): Promise<void> {
  const headers = { "content-type": "application/json", "idempotency-key": id };
  const sent = await fetch(env.MAIL_URL, { method: "POST", headers, body: JSON.stringify({ to }) });
  if (!sent.ok) throw new Error(`HTTP ${sent.status}`);
}

export default {
  // The producer: one request to Redis. The id makes it one mail, however often this is called.
  async fetch(request: Request, env: Env) {
    const to = new URL(request.url).searchParams.get("to");
    if (!to) return new Response("?to= is missing", { status: 400 });
    const { id, created } = await emails(env).enqueue({ to }, { id: `welcome-${encodeURIComponent(to)}` });
    return Response.json({ id, created }, { status: created ? 201 : 200 });
  },

  // Cron, every minute: sweep, then work until nothing is left. Each round settles one batch and pulls the next.
  async scheduled(_event: unknown, env: Env) {
    await sweep(upstash(env), { budget: "10s" });
    const queue = emails(env);
    let tasks = await queue.dequeue({ max: 10 });
    while (tasks.length > 0) {
      const settlements = await Promise.all(
        tasks.map(async ({ id, receipt, attempt, payload }): Promise<Settlement> => {
          try {
            await send(payload, id, env);
            return { receipt, outcome: "complete" };
          } catch (error) {
            return { receipt, outcome: "requeue", delay: 1_000 * 2 ** attempt, error };
          }
        }),
      );
      ({ tasks } = await queue.settleAndDequeue(settlements, { max: 10 }));
    }
  },
};
