import { type CloudflareContext, cloudflareQueue, drainBatches, Queue, sweep } from "sluice-queue";
import { upstash } from "sluice-queue/upstash";
import worker from "./cloudflare-worker.ts";

type Env = { UPSTASH_REDIS_REST_URL: string; UPSTASH_REDIS_REST_TOKEN: string; MAIL_URL: string };

const emails = (env: Env) => new Queue<{ to: string }>("emails", { transport: upstash(env) });

const work = (env: Env, ctx: CloudflareContext) =>
  drainBatches(emails(env), cloudflareQueue(worker, { queue: "emails", env, ctx }), { budget: "15s" });

export default {
  async fetch(request: Request, env: Env, ctx: CloudflareContext) {
    const to = new URL(request.url).searchParams.get("to");
    if (!to) return new Response("?to=…", { status: 404 });
    const enqueued = await emails(env).enqueue({ to });
    ctx.waitUntil(work(env, ctx));
    return Response.json(enqueued);
  },
  // Cron, each minute.
  async scheduled(_event: unknown, env: Env, ctx: CloudflareContext) {
    await sweep(upstash(env), { budget: "10s" });
    await work(env, ctx);
  },
};
