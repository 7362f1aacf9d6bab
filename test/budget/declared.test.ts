import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { overHttp } from "../../serverless/deployment/deployment.ts";
import { Service } from "../../serverless/deployment/service.ts";
import { defineQueue } from "../../src/index.ts";
import { type Gateway, startGateway } from "../../src/local/index.ts";
import { sharedRedis, type SharedRedis } from "../support/shared-redis.ts";

// What declared queues cost in a deployment, against one with the same consumers that declares none.

let redis: SharedRedis;
let gateway: Gateway;
beforeAll(async () => {
  redis = await sharedRedis();
  gateway = await startGateway({ redisUrl: redis.url });
});
afterAll(async () => {
  vi.restoreAllMocks();
  await gateway.close();
  await redis.stop();
});

const names = ["a", "b"];
const declared = names.map((name) => defineQueue(name, { maxWorking: 20, schedules: {} }).consumer(() => {}));
const plain = Object.fromEntries(names.map((name) => [name, () => {}]));

/** A new instance of a deployment; `cron` and `request` return how many commands they cost. */
function instance(consumers: typeof declared | typeof plain) {
  const env = { UPSTASH_REDIS_REST_URL: gateway.url, UPSTASH_REDIS_REST_TOKEN: gateway.token };
  const service = new Service<object>(
    env,
    { consumers, fetch: async (_, { queue }) => Response.json(await queue("a").enqueue(1, { delay: "1h" })) },
    { transport: overHttp, budget: "5s", afterResponse: "bounded" },
  );
  const cost = async (run: () => Promise<unknown>) => {
    gateway.resetUsage();
    await run();
    return gateway.usage().commands;
  };
  return {
    cron: () => cost(() => service.cron()),
    request: () => cost(() => service.fetch(new Request("http://sluice.test/"))),
  };
}

test("a declared queue costs a command with the first cron of an instance and then each ten minutes, and requests nothing", async () => {
  vi.spyOn(console, "log").mockImplementation(() => {});
  // Applies the declarations, and registers the queues.
  await instance(declared).cron();
  await instance(plain).request();
  await instance(plain).cron();
  const [one, other] = [instance(declared), instance(plain)];
  expect((await one.request()) - (await other.request())).toBe(0);
  const idle = await other.cron();
  expect(await one.cron()).toBe(idle + names.length);
  expect(await one.cron()).toBe(idle);
  const now = performance.now();
  vi.spyOn(performance, "now").mockImplementation(() => now + 600_001);
  expect(await one.cron()).toBe(idle + names.length);
});
