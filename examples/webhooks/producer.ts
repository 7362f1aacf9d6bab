// Enqueues the events of events.jsonl: some one by one, as from an API, most in batches.

import { setTimeout as sleep } from "node:timers/promises";
import { eventsFile, readEvents, taskOf, type WebhookEvent, type WebhookTask } from "./events.ts";
import { required } from "./settings.ts";
import type { NewTask } from "../../src/index.ts"; // elsewhere: "sluice-queue"
import { webhooksOf } from "./webhooks.ts";

const batch = 100;
const pause = 250;
/** How many tasks of each batch are enqueued one by one. */
const singles = 3;

const events = readEvents(eventsFile, Number(required("EVENTS")));
const webhooks = webhooksOf("SLUICE_ENQUEUE_TOKEN");

for (let first = 0; first < events.length; first += batch) {
  const tasks = events.slice(first, first + batch).map(newTask);
  for (const task of tasks.slice(0, singles)) await enqueue([task]);
  await enqueue(tasks.slice(singles));
  await sleep(pause);
}
process.disconnect?.();

async function enqueue(tasks: readonly NewTask<WebhookTask>[]): Promise<void> {
  if (tasks.length === 0) return;
  const enqueued = await webhooks.enqueueMany(tasks);
  process.send?.({ enqueued: tasks.length, duplicates: enqueued.filter(({ created }) => !created).length });
}

function newTask(event: WebhookEvent): NewTask<WebhookTask> {
  return {
    // The event's own id: if this program runs twice, each event is still enqueued only once.
    id: event.id,
    payload: taskOf(event),
    // Longer than a batch takes. After this time, tasks of a killed consumer are delivered again.
    lease: "8s",
    maxAttempts: 4,
    // Dead letters are kept for a week.
    deadTtl: "7d",
    ...(event.delaySeconds !== undefined && { delay: `${event.delaySeconds}s` }),
  };
}
