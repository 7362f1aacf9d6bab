// The code of docs/library.md, after the declarations that the page omits, so that it is type checked.

/* oxlint-disable no-unused-vars -- the page shows what there is */

import { z } from "zod";
import { sqs, type SqsHandler } from "../../src/consumer/adapters/sqs.ts";
import {
  cloudflareQueue,
  defineQueue,
  drain,
  drainBatches,
  type Handler,
  NonRetryableError,
  type OnDeadLetter,
  Operator,
  Queue,
  RequestBudget,
  RetryAfter,
  Schedules,
  sweep,
  type Transport,
  type Waker,
  wakeReceiver,
  webhookWaker,
} from "../../src/index.ts";
import { createClient } from "../../src/client/index.ts";
import { encryption } from "../../src/queue/values/aes-gcm.ts";
import { serve } from "../../serverless/node.ts";
import { resp } from "../../src/transport/resp.ts";
import { upstash } from "../../src/transport/upstash.ts";

type Email = { to: string };
type QueueWorker = Parameters<typeof cloudflareQueue>[0];
declare const env: { UPSTASH_REDIS_REST_URL: string; UPSTASH_REDIS_REST_TOKEN: string; EMAILS_KEY: string };
declare const ctx: { waitUntil(promise: Promise<unknown>): void; passThroughOnException(): void };
declare const [url, secret, token, id]: [string, string, string, string];
declare const request: Request;
declare const signal: AbortSignal;
declare const transport: Transport;
declare const onDeadLetter: OnDeadLetter;
declare const queue: Queue<Email>;
declare function render(url: string, signal: AbortSignal): Promise<void>;
declare function stop(): void;
declare function startConsumer(queue: string): Promise<void>;
declare function setTimer(queue: string, at: number, run: () => unknown): void;

export const emails = defineQueue("emails", {
  schema: z.object({ to: z.email() }),
  maxAttempts: 8,
  timeout: "10s",
  rate: { most: 5, per: "1s" },
  maxWorking: 20,
  schedules: {
    digest: { cron: "0 9 * * 1", timeZone: "Europe/Berlin", payload: { to: "team@example.com" } },
  },
  transport: upstash, // only for emails.enqueue(…) outside of a deployment
});

const { REDIS_URL = "redis://127.0.0.1:6379", SLUICE_WAKE_URL, SLUICE_WAKE_SECRET } = process.env;
if (!SLUICE_WAKE_URL || !SLUICE_WAKE_SECRET)
  throw new Error("SLUICE_WAKE_URL and SLUICE_WAKE_SECRET must be set");

export const redis = resp(REDIS_URL);

export const thumbnails = defineQueue<{ url: string }>("thumbnails", {
  timeout: "10s",
  transport: redis,
  wake: () => webhookWaker({ url: SLUICE_WAKE_URL, secret: SLUICE_WAKE_SECRET }),
});

export async function worker() {
  await serve({ consumers: [thumbnails.consumer(({ payload, signal }) => render(payload.url, signal))] });
}

export async function producer() {
  await thumbnails.enqueue({ url: "https://example.com/cat.png" }, { id: "cat" });

  await redis.close(); // when the program ends; an open connection keeps it running
}

export async function unique() {
  await emails.enqueue({ to: "a@example.com" }, { id: "welcome-17", unique: "24h" });
}

export async function consumers(emails: Queue<Email>) {
  const report = await drain(
    emails,
    async ({ id, payload, attempt, signal, extend }) => {
      const sent = await fetch(url, { method: "POST", body: JSON.stringify(payload), signal });
      if (sent.status === 429) throw new RetryAfter("30s"); // again after that
      if (sent.status === 410) throw new NonRetryableError("gone"); // a dead letter at once
      if (!sent.ok) throw new Error(`HTTP ${sent.status}`); // again, after its backoff
      return { status: sent.status }; // kept as the task's result
    },
    { budget: "25s", batch: 10, concurrency: 5, timeout: "10s", backoff: true },
  );
}

export async function hooks(handler: Handler<Email>) {
  const emails = new Queue<Email>("emails", {
    transport,
    onDeadLetter: ({ id, reason, attempts, error }) => console.error(id, reason, attempts, error?.message),
  });
  await drain(emails, handler, {
    onFailure: ({ id, attempt, error, ranFor, next, dueAt }) =>
      console.warn(id, attempt, error?.message, next),
  });
  await sweep(transport, { onDeadLetter }); // deepSweep and Operator have it too
}

export async function limited(
  emails: Queue<Email>,
  reports: Queue,
  handler: Handler<Email>,
  render: Handler,
) {
  await drain(emails, handler, { requests: 50, requestsPerTask: 1 });

  const requests = new RequestBudget(50); // for several drains of one invocation
  requests.use(2); // what the function has sent before
  await Promise.all([drain(emails, handler, { requests }), drain(reports, render, { requests })]);
}

export async function existing(emails: Queue<Email>, worker: QueueWorker, handler: SqsHandler) {
  await drainBatches(emails, cloudflareQueue(worker, { queue: "emails", env, ctx })); // queue(batch, env, ctx)
  await drainBatches(emails, sqs(handler, { queue: "emails" })); // { Records } → { batchItemFailures }
}

export async function waking(handler: Handler<Email>) {
  const waitUntil = (promise: Promise<unknown>) => ctx.waitUntil(promise);

  // The producer and the sweep. Without waitUntil the call waits for the wake.
  const wake = webhookWaker({ url, secret, waitUntil });
  const emails = new Queue<Email>("emails", { transport, wake });
  await sweep(transport, { wake });

  // The consumer: a POST, signed as Standard Webhooks has it.
  const receive = wakeReceiver({
    secret,
    drain: (queue) => (queue === "emails" ? drain(emails, handler) : null),
  });
  return receive(request, { waitUntil });
}

export async function due() {
  const wake: Waker = {
    wake: (queue) => startConsumer(queue),
    // Called after an enqueue or requeue with a delay, a redrive with a rate, and by each sweep. `at` is epoch ms.
    wakeAt: (queue, at) => setTimer(queue, at, () => startConsumer(queue)),
    // Called when a schedule is put or resumed, and by each sweep.
    sweepAt: (queue, at) => setTimer(queue, at, () => sweep(transport, { queue, wake })),
  };
}

export async function schemas() {
  const emails = new Queue("emails", { transport, schema: z.object({ to: z.email() }) });
}

export async function encrypted() {
  const emails = new Queue("emails", {
    transport,
    encryption: encryption({ keys: { "2026-11": env.EMAILS_KEY }, current: "2026-11" }), // openssl rand -base64 32
  });
}

export async function recurring() {
  const schedules = new Schedules("reports", { transport });
  await schedules.put("daily", {
    cron: "0 9 * * 1-5",
    timeZone: "Europe/Berlin",
    payload: { kind: "daily" },
  });
  await schedules.put("poll", { every: "10m", payload: null, missed: "all" });
  await schedules.pause("poll"); // resume, get, list, remove
}

export async function client(handler: Handler<Email>) {
  const emails = createClient({ url, token }).queue<{ to: string }>("emails");
  await emails.enqueue({ to: "a@example.com" });
  await drain(emails, handler);
}

export async function following() {
  const report = await queue.wait(id, { for: "1m" }); // the task when it has ended, or as it is after a minute
  for await (const { event } of queue.watch(id)) console.log(event); // transition, progress, gap, end

  const worker = { name: "mailer-1", incarnation: crypto.randomUUID(), silentAfter: "2m" } as const;
  const tasks = await queue.dequeue({ max: 10, worker });
  await tasks[0]?.extend("5m", { progress: { sent: 40 } });
  const receipts = tasks.map((task) => task.receipt);
  const beat = await queue.heartbeat(worker, { receipts }); // extends what it works on
  if (!beat.ok) stop(); // worker_lost: other workers have all of its tasks

  for await (const { event, ids } of await queue.events({ signal })) console.log(event, ids);
}

export async function operating() {
  const operator = new Operator("emails", { transport: upstash(env) });
  await operator.pause(); // and resume()
  await operator.configure({
    maxWorking: 50,
    rate: { most: 100, per: "1m" },
    maxPending: 10_000,
    statistics: true,
  });
  await operator.configureGroup("tenant-7", { weight: 2, maxWorking: 5 });
  await operator.redrive({ text: "503", rate: 10, dryRun: true }); // dead letters, by error, time, group or id
  await operator.list({ state: "rejected", text: "timeout" }); // pages; peek() shows what is next
  await operator.purge({ state: "pending", group: "tenant-7" });
  await operator.failWorker("mailer-1"); // its tasks are pending again: at the front, or the back of their group
}

export async function onCluster() {
  const byUrl = resp("cluster://user:password@10.0.0.1:6379,10.0.0.2:6379"); // clusters:// for TLS
  const byNodes = resp({
    nodes: ["rediss://user:password@a.example.com", "rediss://user:password@b.example.com"],
  });
}
