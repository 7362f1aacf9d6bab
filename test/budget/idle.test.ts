import { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { overHttp } from "../../serverless/deployment/deployment.ts";
import { Service } from "../../serverless/deployment/service.ts";
import { defineQueue } from "../../src/index.ts";
import { dollars } from "../../src/local/index.ts";
import { useBilled } from "../support/billed.ts";

// What a queue with a consumer costs while it is idle: cron every minute, through the gateway.

const billed = useBilled();
const minutesOfMonth = 60 * 24 * 30;

const read = (page: string) =>
  readFileSync(new URL(`../../${page}`, import.meta.url), "utf8").replaceAll("\n", " ");

/** The price in dollars of that many commands a minute for a month. */
const monthly = (commands: number) => dollars(commands * minutesOfMonth).toFixed(2);

type Deployment = ConstructorParameters<typeof Service<object>>[1];

/** A new instance of a deployment; `cron` and `request` return how many commands they cost. */
function instance(deployment: Deployment) {
  const { url, token } = billed.gateway;
  const service = new Service<object>(
    { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token },
    deployment,
    { transport: overHttp, budget: "5s", afterResponse: "bounded" },
  );
  return {
    cron: () => billed.cost(() => service.cron()),
    request: () => billed.cost(() => service.fetch(new Request("http://sluice.test/"), () => {})),
  };
}

test("a queue with a consumer and a minute cron costs, while it is idle, what the README and docs/costs.md say", async () => {
  vi.spyOn(console, "log").mockImplementation(() => {});
  const done: unknown[] = [];
  const { cron: minute, request: enqueue } = instance({
    consumers: { emails: ({ payload }: { payload: unknown }) => void done.push(payload) },
    fetch: async (_, { queue }) => Response.json(await queue("emails").enqueue(1, { resultTtl: 0 })),
  });
  await billed.client.flushall();
  await enqueue();
  await minute();
  expect(done).toEqual([1]);

  /** Sets when the sweep last registered the queue. */
  const noted = (queue: string, minutes: number) =>
    billed.client.zadd("sluice:queues", { score: Date.now() - minutes * 60_000, member: queue });

  // While records of ended tasks are kept, the queue is not empty: its script runs, and looks for ready
  // tasks.
  const kept = await minute();
  expect(kept).toBe(3 + 5 + 1);
  // Once in ten minutes the sweep asks if the queue holds anything, and registers that.
  await noted("emails", 11);
  const tenth = await minute();
  expect([tenth, await minute()]).toEqual([kept + 1 + 3, kept]);

  // Ten minutes after the last record is removed.
  await billed.client.del("sluice:{emails}:expiry", "sluice:{emails}:tasks");
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

  // An hour later the queues leave the registry, until their next task.
  for (const queue of ["emails", "further"]) await noted(queue, 80);
  expect(await minute()).toBe(3 + 2 * (1 + 4) + 3);
  expect(await minute()).toBe(3);
  await enqueue();
  await minute();
  expect(done).toEqual([1, 1]);
});

test("a declared queue costs a command with the first cron of an instance and then each ten minutes, and requests nothing", async () => {
  vi.spyOn(console, "log").mockImplementation(() => {});
  const names = ["a", "b"];
  const fetch: Deployment["fetch"] = async (_, { queue }) =>
    Response.json(await queue("a").enqueue(1, { delay: "1h" }));
  const declares = {
    consumers: names.map((name) => defineQueue(name, { maxWorking: 20, schedules: {} }).consumer(() => {})),
    fetch,
  };
  const plain = { consumers: Object.fromEntries(names.map((name) => [name, () => {}])), fetch };
  // Applies the declarations, and registers the queues.
  await instance(declares).cron();
  await instance(plain).request();
  await instance(plain).cron();
  const [one, other] = [instance(declares), instance(plain)];
  expect((await one.request()) - (await other.request())).toBe(0);
  const idle = await other.cron();
  expect(await one.cron()).toBe(idle + names.length);
  expect(await one.cron()).toBe(idle);
  const now = performance.now();
  vi.spyOn(performance, "now").mockImplementation(() => now + 600_001);
  expect(await one.cron()).toBe(idle + names.length);
});
