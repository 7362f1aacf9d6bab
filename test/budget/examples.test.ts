import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { overHttp } from "../../serverless/deployment/deployment.ts";
import { Service } from "../../serverless/deployment/service.ts";
import { drain, Queue, type Waker } from "../../src/index.ts";
import { dollars } from "../../src/local/index.ts";
import { useBilled } from "../support/billed.ts";
import { many } from "../support/new-tasks.ts";

// What whole uses cost: the examples of docs/costs.md, and the rows of the README. All other figures of
// docs/costs.md are asserted call by call in the other files of this folder.

const billed = useBilled();
const { cost } = billed;
beforeEach(() => void vi.spyOn(console, "log").mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

/** What a request to a deployment costs that enqueues a task, up to the task's end. */
async function alone(): Promise<{ first: number; further: number }> {
  let completed = 0;
  const env = { UPSTASH_REDIS_REST_URL: billed.gateway.url, UPSTASH_REDIS_REST_TOKEN: billed.gateway.token };
  const requestTo = (name: string) => async () => {
    const service = new Service<object>(
      env,
      {
        consumers: { [name]: () => void completed++ },
        fetch: async (_, { queue }) => Response.json(await queue(name).enqueue({ to: "a@example.com" })),
      },
      { transport: overHttp, budget: "5s", afterResponse: "bounded" },
    );
    const after: Promise<unknown>[] = [];
    await service.fetch(new Request("http://sluice.test/"), (promise) => void after.push(promise));
    await Promise.all(after);
  };
  // This process has not registered the queue yet.
  const request = requestTo(billed.queue.name.replace("emails", "alone"));
  const [first, further] = [await cost(request), await cost(request)];
  expect(completed).toBe(2);
  return { first, further };
}

/** What a hundred tasks cost that are enqueued one at a time, and worked on in tens by a drain. */
async function inTens(): Promise<number> {
  const wake: Waker = { wake: () => {}, window: "1h" };
  const producer = new Queue(billed.queue.name, { transport: billed.transport, wake });
  let completed = 0;
  const commands = await cost(async () => {
    for (let i = 0; i < 100; i++) await producer.enqueue({ to: "a@example.com" });
    ({ completed } = await drain(billed.queue, () => {}, { batch: 10, concurrency: 10 }));
  });
  expect(completed).toBe(100);
  return commands;
}

/** What a hundred tasks cost that are enqueued, dequeued and completed together. */
async function inHundreds(): Promise<number> {
  const { queue } = billed;
  return cost(async () => {
    await queue.enqueueMany(many(100));
    const batch = await queue.dequeue({ max: 100 });
    await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "complete" })));
  });
}

const read = (page: string) => readFileSync(new URL(`../../${page}`, import.meta.url), "utf8");
/** The cells of the first row of a page that contains these words. */
const row = (page: string, words: string) =>
  read(page)
    .split("\n")
    .find((line) => line.startsWith("|") && line.includes(words))
    ?.split("|")
    .slice(2, -1)
    .map((cell) => cell.trim());
/** The commands of a month in which nothing happens while records are kept, which idle.test.ts asserts. */
function idleCommands(): number {
  const [, commands = ""] =
    /tenth minute: ([\d,]+) a month/.exec(read("docs/costs.md").replaceAll("\n", " ")) ?? [];
  return Number(commands.replaceAll(",", ""));
}
const million = (commands: number) => dollars(commands * 1_000_000).toFixed(2);
const price = (commands: number) => [String(commands), million(commands)];

test("the prices of a task in README and docs/costs.md are what it costs", async () => {
  const { first, further } = await alone();
  const [tens, hundreds] = [(await inTens()) / 100, (await inHundreds()) / 100];
  expect(row("README.md", "worked on in tens")).toEqual(price(tens));
  expect(row("README.md", "in batches of 100")).toEqual(price(hundreds));
  expect(row("README.md", "in a deployment")).toEqual([
    `${further} to ${first}`,
    `${million(further)} to ${million(first)}`,
  ]);
  const [oneAtATime, inBatches] = row("README.md", "Sluice, on Upstash") ?? [];
  expect([oneAtATime, inBatches]).toEqual([`32 to ${Number(million(first))}`, million(hundreds)]);
  expect(row("docs/costs.md", "alone in a deployment")).toEqual(price(further));
  expect(row("docs/costs.md", "the first of its instance")).toEqual(price(first));
  expect(row("docs/costs.md", "with waking, worked on in tens")).toEqual(price(tens));
  expect(row("docs/costs.md", "in batches of 100: ")).toEqual(price(hundreds));
});

test("the monthly sums of the examples are those of their tasks and of an idle queue with records", async () => {
  const idle = idleCommands();
  const costs = {
    "welcome mails": [9_000, (await alone()).first],
    "a nightly import": [3_000_000, (await inHundreds()) / 100],
    webhooks: [1_000_000, (await inTens()) / 100],
  } as const;
  for (const [example, [tasks, each]] of Object.entries(costs)) {
    const numbers = [tasks, each, tasks * each, idle].map((number) => number.toLocaleString("en"));
    expect(row("docs/costs.md", `| ${example}`)).toEqual([
      ...numbers,
      dollars(tasks * each + idle).toFixed(2),
    ]);
  }
});

test("a fixed plan of 10 $ costs less from about 750,000 tasks in tens on", async () => {
  const tasks = (10 / dollars(1) - idleCommands()) / ((await inTens()) / 100);
  expect(Math.round(tasks / 50_000) * 50_000).toBe(750_000);
  expect(read("docs/costs.md").replaceAll("\n", " ")).toContain("from about 750,000 such tasks on");
});
