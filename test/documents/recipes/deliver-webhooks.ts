import { defineQueue, NonRetryableError, RetryAfter } from "sluice-queue";
import { sluice } from "sluice-queue/cloudflare";
import { Webhook } from "standardwebhooks";

type Env = { WEBHOOK_SECRET: string };
type Delivery = { url: string; event: { id: string; type: string; data: unknown } };

// Nine attempts within three days.
const backoff = ["5s", "5m", "30m", "2h", "5h", "10h", "24h", "24h"] as const;
export const deliveries = defineQueue<Delivery>("deliveries", { timeout: "15s", maxAttempts: 9, backoff });

const deliver = deliveries.consumer(async ({ payload: { url, event }, signal }, env: Env) => {
  const body = JSON.stringify(event);
  const now = new Date();
  const headers = {
    "content-type": "application/json",
    "webhook-id": event.id,
    "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
    "webhook-signature": new Webhook(env.WEBHOOK_SECRET).sign(event.id, now, body),
  };
  const response = await fetch(url, { method: "POST", headers, body, signal, redirect: "manual" });
  await response.body?.cancel();
  if (response.ok) return;
  if (response.status === 410) throw new NonRetryableError("the receiver wants no more events");
  const seconds = Number(response.headers.get("retry-after"));
  if (seconds > 0) throw new RetryAfter(Math.min(seconds, 86_400) * 1000);
  throw new Error(`HTTP ${response.status}`);
});

export default sluice<Env>({
  consumers: [deliver],

  // One task for each receiver. Its group is the receiver, so that receivers share the queue fairly.
  async fetch(request, { queue }) {
    const { event, receivers } = (await request.json()) as {
      event: Delivery["event"];
      receivers: { name: string; url: string }[];
    };
    const tasks = receivers.map(({ name, url }) => ({
      id: `${event.id}.${name}`,
      group: name,
      payload: { url, event },
    }));
    return Response.json(await queue(deliveries).enqueueMany(tasks), { status: 202 });
  },
});
