// A consumer, as it would run in a short-lived function: it pulls a batch of webhooks, delivers them, and
// settles them while it pulls the next. After some seconds it ends, and the platform starts it again.
//
// It keeps nothing to itself. When it is killed, its leases expire, and another run gets the tasks: a
// webhook that was delivered but not yet settled is then delivered again. That is what "at least once"
// means, and why a webhook has an id.

import { setTimeout as sleep } from "node:timers/promises";
import { backoff } from "./backoff.ts";
import { deliver, type Endpoint } from "./deliver.ts";
import type { WebhookTask } from "./events.ts";
import { required } from "./settings.ts";
import { type PulledTask, type Settlement, SluiceQueue } from "./sluice.ts";

const batch = 20;
const until = Date.now() + Number(required("CONSUMER_SECONDS")) * 1000;
const name = required("CONSUMER_NAME");
const endpoints = JSON.parse(required("ENDPOINTS")) as Record<string, Endpoint>;
const webhooks = new SluiceQueue<WebhookTask>(
  required("SLUICE_URL"),
  required("SLUICE_CONSUME_TOKEN"),
  "webhooks",
);

let settlements: Settlement[] = [];
while (Date.now() < until) {
  const { tasks, nextDueAt } = await webhooks.settleAndPull(settlements, batch);
  settlements = await Promise.all(tasks.map(work));
  if (tasks.length === 0) await sleep(untilDue(nextDueAt));
}
if (settlements.length > 0) await webhooks.settle(settlements);

async function work({ id, receipt, attempt, payload }: PulledTask<WebhookTask>): Promise<Settlement> {
  const endpoint = endpoints[payload.tenant];
  if (!endpoint) return { receipt, outcome: "reject", error: `${payload.tenant} has no endpoint` };
  const delivery = await deliver(endpoint, { id, attempt, body: payload.body, by: name });
  if (delivery.accepted) return { receipt, outcome: "complete" };
  // No use to try again: a dead letter at once.
  if (delivery.hopeless) return { receipt, outcome: "reject", error: delivery.why };
  // After the last of its attempts, the queue makes it a dead letter.
  return { receipt, outcome: "requeue", delay: backoff(attempt), error: delivery.why };
}

/** Nothing to do: an idle poll costs money, so wait until something is due, but not for long. */
function untilDue(nextDueAt: number | null): number {
  const wait = nextDueAt === null ? 1_000 : nextDueAt - Date.now();
  return Math.min(1_000, Math.max(200, wait));
}
