import { afterAll, beforeAll, expect, test } from "vitest";
import { Redis } from "@upstash/redis";
import { Service } from "../../serverless/service.ts";
import { overHttp } from "../../serverless/service.ts";
import { dollars, type Gateway, startGateway } from "../../src/local/index.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";

// What a queue with a consumer costs while it is idle: cron every minute, through the gateway. The README has it from here.

const minutesOfMonth = 60 * 24 * 30;
let redis: TestRedis;
let gateway: Gateway;
beforeAll(async () => {
  redis = await startRedis();
  gateway = await startGateway({ redisUrl: redis.url });
});
afterAll(async () => {
  await gateway.close();
  await redis.stop();
});

test("a queue with a consumer and a minute cron costs 4 commands a minute once it is idle: 0.35 $ a month", async () => {
  const done: unknown[] = [];
  const env = {
    UPSTASH_REDIS_REST_URL: gateway.url,
    UPSTASH_REDIS_REST_TOKEN: gateway.token,
    SLUICE_TOKENS: JSON.stringify([{ token: "token-0123456789abcdef", scopes: ["enqueue"], queues: "*" }]),
  };
  const consumers = { emails: ({ payload }: { payload: unknown }) => void done.push(payload) };
  const service = new Service(
    env,
    { consumers },
    { transport: overHttp, budget: "5s", afterResponse: "bounded" },
  );
  const enqueue = () =>
    service.fetch(
      new Request("http://sluice.test/v1/queues/emails/tasks", {
        method: "POST",
        headers: { authorization: "Bearer token-0123456789abcdef", "content-type": "application/json" },
        body: JSON.stringify({ payload: 1, resultTtl: 0 }),
      }),
      () => {},
    );
  const minute = async () => {
    gateway.resetUsage();
    await service.cron();
    return gateway.usage().commands;
  };
  await enqueue();
  await service.cron();
  expect(done).toEqual([1]);

  // While records of ended tasks are kept, the queue is not empty: its script runs, and asks whether anything is ready.
  expect(await minute()).toBe(3 + 5 + 1);

  // Ten minutes after the last of them has gone.
  const client = new Redis({ url: gateway.url, token: gateway.token });
  await client.del("sluice:{emails}:expiry", "sluice:{emails}:tasks");
  await client.zadd("sluice:queues", { score: Date.now() - 11 * 60_000, member: "emails" });
  const idle = await minute();
  expect(idle).toBe(3 + 1);
  expect(idle * minutesOfMonth).toBe(172_800);
  expect(dollars(idle * minutesOfMonth).toFixed(2)).toBe("0.35");

  // An hour later it is off the list, until its next task.
  await client.zadd("sluice:queues", { score: Date.now() - 80 * 60_000, member: "emails" });
  await minute();
  expect(await minute()).toBe(3);
  await enqueue();
  await service.cron();
  expect(done).toEqual([1, 1]);
});
