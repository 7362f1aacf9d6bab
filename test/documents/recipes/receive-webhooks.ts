import { defineQueue } from "sluice-queue";
import { sluice } from "sluice-queue/cloudflare";
import { Webhook } from "standardwebhooks";

type Env = { WEBHOOK_SECRET: string; CRM_URL: string };

// A sender repeats an event for hours or days until it gets a 2xx. Its id is refused for a week.
const events = defineQueue<{ type: string; data: unknown }>("events", { timeout: "10s", unique: "7d" });

const applyEvent = events.consumer(async ({ id, payload, signal }, env: Env) => {
  const headers = { "content-type": "application/json", "idempotency-key": id };
  const body = JSON.stringify(payload);
  const applied = await fetch(env.CRM_URL, { method: "POST", headers, body, signal });
  if (!applied.ok) throw new Error(`HTTP ${applied.status}`);
});

export default sluice<Env>({
  consumers: [applyEvent],

  // Checks the signature, enqueues, and responds. The work follows after the response.
  async fetch(request, { queue, env }) {
    if (new URL(request.url).pathname !== "/webhooks") return new Response(null, { status: 404 });
    const body = await request.text();
    const headers = Object.fromEntries(request.headers);
    const webhook = new Webhook(env.WEBHOOK_SECRET); // throws if the secret is missing: a 500, not a 401
    try {
      webhook.verify(body, headers);
    } catch {
      return new Response("the signature is wrong", { status: 401 });
    }
    await queue(events).enqueue(JSON.parse(body), { id: headers["webhook-id"] });
    return new Response(null, { status: 204 });
  },
});
