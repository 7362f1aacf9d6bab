import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Redis } from "@upstash/redis";
import { overHttp } from "../../serverless/deployment/deployment.ts";
import { Service } from "../../serverless/deployment/service.ts";
import { dollars, type Gateway, startGateway } from "../../src/local/index.ts";
import { sharedRedis, type SharedRedis } from "../support/shared-redis.ts";

// What a queue with a consumer costs while it is idle: cron every minute, through the gateway.

const minutesOfMonth = 60 * 24 * 30;
let redis: SharedRedis;
let gateway: Gateway;
beforeAll(async () => {
  redis = await sharedRedis();
  gateway = await startGateway({ redisUrl: redis.url });
});
afterAll(async () => {
  await gateway.close();
  await redis.stop();
});

const read = (page: string) =>
  readFileSync(new URL(`../../${page}`, import.meta.url), "utf8").replaceAll("\n", " ");

/** The price in dollars of that many commands a minute for a month. */
const monthly = (commands: number) => dollars(commands * minutesOfMonth).toFixed(2);

test("a queue with a consumer and a minute cron costs, while it is idle, what the README and docs/costs.md say", async () => {
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

  const client = new Redis({ url: gateway.url, token: gateway.token });
  /** Sets when the sweep last registered the queue. */
  const noted = (queue: string, minutes: number) =>
    client.zadd("sluice:queues", { score: Date.now() - minutes * 60_000, member: queue });

  // While records of ended tasks are kept, the queue is not empty: its script runs, and looks for ready
  // tasks.
  const kept = await minute();
  expect(kept).toBe(3 + 5 + 1);
  // Once in ten minutes the sweep asks if the queue holds anything, and registers that.
  await noted("emails", 11);
  const tenth = await minute();
  expect([tenth, await minute()]).toEqual([kept + 1 + 3, kept]);

  // Ten minutes after the last record is removed.
  await client.del("sluice:{emails}:expiry", "sluice:{emails}:tasks");
  await noted("emails", 11);
  const idle = await minute();
  expect(idle).toBe(3 + 1);
  await noted("further", 11);
  const further = (await minute()) - idle;
  expect(further).toBe(1);

  const withRecords = (9 * kept + tenth) / 10;
  const [said] = /\*\*Idle\*\*: .*? \(`npm test -- test\/budget\/idle`/.exec(read("docs/costs.md")) ?? [];
  expect(said).toBe(
    `**Idle**: a queue with a consumer and a minute cron costs at most ${idle} commands a minute, ` +
      `${(idle * minutesOfMonth).toLocaleString("en")} a month: $${monthly(idle)}; ` +
      `each further queue $${monthly(further)}. ` +
      "That holds once no record is left. While results or dead letters are kept, it is " +
      `${kept} commands a minute and ${tenth} in each tenth minute: ` +
      `${(withRecords * minutesOfMonth).toLocaleString("en")} a month, $${monthly(withRecords)}. ` +
      "(`npm test -- test/budget/idle`",
  );
  expect(read("README.md")).toContain(
    `An idle queue with a cron each minute costs $${monthly(idle)} a month, or $${monthly(withRecords)} while records`,
  );

  // Loads the scripts.
  await noted("warm", 80);
  await minute();
  // An hour later the queues leave the registry, until their next task.
  for (const queue of ["emails", "further"]) await noted(queue, 80);
  expect(await minute()).toBe(3 + 2 * (1 + 4) + 3);
  expect(await minute()).toBe(3);
  await enqueue();
  await service.cron();
  expect(done).toEqual([1, 1]);
});
