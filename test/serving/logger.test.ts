import { expect, onTestFinished, test, vi } from "vitest";
import { serve, type ServeOptions } from "../../serverless/node.ts";
import { defineAlerts } from "../../src/features/alerts/index.ts";
import { defineQueue, NonRetryableError, type Logger } from "../../src/index.ts";
import { useOwnRedis } from "../support/own-redis.ts";

const redis = useOwnRedis();

const levels = ["debug", "info", "warn", "error"] as const;
const TOKEN = "t".repeat(32);
const SECRET = `whsec_${btoa("a secret of more than 24 bytes")}`;

/** A logger, and the lines that it gets with their level. The console must get none. */
function listen() {
  const lines: Record<string, unknown>[] = [];
  const onConsole: unknown[] = [];
  for (const level of [...levels, "log"] as const) {
    const spy = vi.spyOn(console, level).mockImplementation((...words) => void onConsole.push(words));
    onTestFinished(() => spy.mockRestore());
  }
  const [debug, info, warn, error] = levels.map(
    (level) => (line: Record<string, unknown>) => void lines.push({ level, ...line }),
  );
  return { logger: { debug, info, warn, error } as Logger, lines, onConsole };
}

async function start(options: ServeOptions, env: Record<string, string> = {}) {
  const server = await serve({
    env: { REDIS_URL: redis.url, ...env },
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    ...options,
  });
  onTestFinished(() => server.close());
  return server;
}

test("all that a server logs goes to its logger, without payloads and secrets", async () => {
  const { logger, lines, onConsole } = listen();
  const emails = defineQueue<string>("emails", { maxPending: 1_000 });
  const broken = (name: string) => () => {
    throw new Error(`${name} is broken`);
  };
  const { url } = await start(
    {
      logger,
      consumers: [
        emails.consumer(({ payload, id }) => {
          if (id === "retried") throw new Error("HTTP 503");
          if (id === "dead") throw new NonRetryableError("HTTP 422");
          return payload.length;
        }),
      ],
      alerts: defineAlerts({
        rules: [{ name: "any", queues: "emails", when: { newDeadLetters: {} } }],
        send: [broken("the receiver")],
      }),
      onDeadLetter: broken("the dead letter hook"),
      onFailure: broken("the failure hook"),
      fetch: broken("the page"),
      every: "1s",
    },
    {
      SLUICE_TOKENS: JSON.stringify([{ token: TOKEN, scopes: ["enqueue", "admin"], queues: "*" }]),
      // Nothing listens there.
      SLUICE_WAKE_URL: "http://127.0.0.1:1/wake",
      SLUICE_WAKE_SECRET: SECRET,
    },
  );
  expect((await fetch(`${url}/page`)).status).toBe(500);
  const tasks = ["done", "retried", "dead"].map((id) => ({ id, payload: `the payload of ${id}` }));
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const post = { method: "POST", headers, body: JSON.stringify({ tasks }) };
  expect((await fetch(`${url}/v1/queues/emails/tasks`, post)).status).toBe(201);

  const expected = [
    { level: "info", message: "declared emails", declared: "emails", applied: true },
    { level: "error", message: "fetch failed the page is broken", fetch: "failed" },
    { level: "debug", message: "drain emails", drain: "emails", began: true },
    {
      level: "warn",
      message: "queue emails Error: HTTP 503",
      queue: "emails",
      task: "retried",
      next: "retry",
    },
    { level: "error", queue: "emails", task: "dead", deadLetter: true, reason: "rejected" },
    { level: "error", onFailure: "emails", task: "retried", failed: "the failure hook is broken" },
    { level: "error", onDeadLetter: "emails", task: "dead", failed: "the dead letter hook is broken" },
    { level: "info", message: "drain emails", drain: "emails", completed: 1, requeued: 1, rejected: 1 },
  ];
  for (const line of expected) await expect.poll(() => lines).toContainEqual(expect.objectContaining(line));
  expect(JSON.stringify(lines)).not.toMatch(new RegExp(`the payload of|${TOKEN}|${SECRET}`));
  expect(onConsole).toEqual([]);
});

test("the same failure of a queue's wakes is logged once a minute, whatever its numbers are", async () => {
  const { logger, lines } = listen();
  let wakes = 0;
  const waker = {
    wake(queue: string) {
      throw new Error(`${queue} has no answer in ${wakes++} ms`);
    },
    window: 100,
  };
  const queues = [defineQueue("emails"), defineQueue("sms")];
  const { queue } = await start({ queues, logger, wake: () => waker });
  const failsThreeTimes = async (name: string) => {
    wakes = 0;
    await expect.poll(async () => (await queue(name).enqueue(1), wakes)).toBeGreaterThanOrEqual(3);
  };
  const failures = () => lines.flatMap(({ wake, failed }) => (wake === undefined ? [] : [failed]));
  await failsThreeTimes("emails");
  await failsThreeTimes("sms");
  const [ofEmails, ofSms] = ["emails has no answer in 0 ms", "sms has no answer in 0 ms"];
  expect(failures()).toEqual([ofEmails, ofSms]);
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + 60_000);
  await failsThreeTimes("emails");
  clock.mockRestore();
  expect(failures()).toEqual([ofEmails, ofSms, ofEmails]);
});

test("a server does not start with a schedule whose cron expression cannot be read", async () => {
  const schedules = { daily: { cron: "0 99 * * *", payload: 1 } };
  await expect(start({ queues: [defineQueue("emails", { schedules })] })).rejects.toMatchObject({
    code: "invalid_argument",
    path: "emails.schedules.daily.cron",
  });
});

test("a sweep that does nothing logs nothing", async () => {
  const { logger, lines, onConsole } = listen();
  let sweeps = 0;
  const alerts = defineAlerts({ rules: [{ queues: "quiet", when: { pending: { above: 9 } } }] });
  // Without wakes through Redis, since a server that begins to hear them looks for tasks in each queue.
  const env = { SLUICE_WAKE_PUBSUB: "off" };
  const options: ServeOptions = {
    logger,
    consumers: { quiet: () => {} },
    // Called after each sweep.
    alerts: {
      connect: (env) => {
        const { evaluate } = alerts.connect(env);
        return { evaluate: (context) => evaluate(context).finally(() => void sweeps++) };
      },
    },
    every: "1s",
  };
  const server = await start(options, env);
  await expect.poll(() => sweeps, { timeout: 10_000 }).toBeGreaterThan(1);
  await server.close();
  expect([lines, onConsole]).toEqual([[], []]);
});
