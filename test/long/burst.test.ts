import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createAdaptorServer } from "@hono/node-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Queue, sweep, wakeReceiver, webhookWaker } from "../../src/index.ts";
import { startGateway, type Gateway } from "../../src/local/index.ts";
import { resp } from "../../src/transport/resp.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { dice } from "../support/dice.ts";

const TASKS = 10_000;
/** How long an invocation may take, ms: some 15 of them are needed. */
const BUDGET = 1_500;
/** How many invocations the platform runs at once. */
const AT_ONCE = 3;
const secret = `whsec_${btoa("a secret of at least 24 bytes")}`;

let redis: TestRedis;
let gateway: Gateway;
let folder: string;
beforeAll(async () => {
  redis = await startRedis();
  gateway = await startGateway({ redisUrl: redis.url });
  folder = mkdtempSync(join(tmpdir(), "sluice-burst-"));
});
afterAll(async () => {
  await gateway.close();
  await redis.stop();
  rmSync(folder, { recursive: true });
});

/** A platform that starts a process for each wake, and kills some of them in the middle of their work. */
async function platform(env: Record<string, string>) {
  const next = dice(7);
  const roll = (sides: number) => Math.floor(next() * sides);
  const running = new Set<Promise<unknown>>();
  const seen = { invocations: 0, killed: 0, failed: [] as unknown[] };
  const invoke = async (wakeUrl: string) => {
    seen.invocations++;
    const child = fork(fileURLToPath(new URL("burst-invocation.ts", import.meta.url)), {
      env: { ...process.env, ...env, wakeUrl, budget: String(BUDGET) },
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    const timer = roll(2) === 0 ? setTimeout(() => child.kill("SIGKILL"), 500 + roll(900)) : undefined;
    const [status, signal] = (await once(child, "exit")) as [number | null, string | null];
    clearTimeout(timer);
    if (signal === "SIGKILL") seen.killed++;
    else if (status !== 0) seen.failed.push(status);
  };
  const server = createAdaptorServer({
    fetch: (request) => {
      if (running.size >= AT_ONCE) return new Response("too many", { status: 429 });
      return receive(request, { waitUntil: (promise) => track(promise) });
    },
  });
  const track = (promise: Promise<unknown>) => {
    running.add(promise);
    void promise.finally(() => running.delete(promise));
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/wake`;
  const receive = wakeReceiver({ secret, drain: () => invoke(url) as Promise<never> });
  return {
    url,
    seen,
    async stop() {
      await Promise.all(running);
      server.close();
    },
  };
}

test(`${TASKS} tasks at once, from an idle start, are all done by short invocations of which some are killed`, async () => {
  const log = join(folder, "deliveries");
  const host = await platform({ url: gateway.url, token: gateway.token, secret, log });
  const transport = upstash({ url: gateway.url, token: gateway.token });
  const wake = webhookWaker({ url: host.url, secret, window: "1s", onError: () => {} });
  const producer = new Queue<number>("burst", { transport, wake, maxAttempts: 0 });
  for (let first = 0; first < TASKS; first += 1_000) {
    const tasks = Array.from({ length: 1_000 }, (_, i) => ({ payload: first + i, id: `t${first + i}` }));
    await producer.enqueueMany(tasks);
  }

  // Cron, as often as this test needs: tasks of killed invocations are reclaimed, and a consumer whose wake was lost is
  // woken again.
  let left = Number.POSITIVE_INFINITY;
  const counts = () => producer.counts();
  for (const end = Date.now() + 500_000; left > 0 && Date.now() < end;) {
    await sweep(transport, { wake });
    await new Promise((resolve) => setTimeout(resolve, 500));
    const { pending, working, delayed } = await counts();
    left = pending + working + delayed;
  }
  await host.stop();

  expect(await counts()).toMatchObject({ pending: 0, working: 0, delayed: 0, rejected: 0, broken: 0 });
  const direct = resp(redis.url);
  const observer = new Queue("burst", { transport: direct });
  const wrong: unknown[] = [];
  for (let first = 0; first < TASKS; first += 100) {
    const tasks = await Promise.all(Array.from({ length: 100 }, (_, i) => observer.get(`t${first + i}`)));
    wrong.push(...tasks.filter((task, i) => task?.state !== "completed" || task.result !== first + i));
  }
  await direct.close();
  expect(wrong).toEqual([]);

  // Each was delivered; more than once only those that a killed invocation had leased.
  const deliveries = readFileSync(log, "utf8").trimEnd().split("\n");
  expect(new Set(deliveries).size).toBe(TASKS);
  const { invocations, killed, failed } = host.seen;
  expect(failed).toEqual([]);
  expect(killed).toBeGreaterThan(0);
  expect(invocations).toBeGreaterThan(killed);
  const again = deliveries.length - TASKS;
  console.log(`${invocations} invocations, ${killed} killed, ${again} deliveries more than tasks`);
  expect(again).toBeLessThanOrEqual(killed * 300);
});
