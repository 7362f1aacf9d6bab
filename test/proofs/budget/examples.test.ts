import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { overHttp } from "../../../src/deploy/deployment.ts";
import { Service } from "../../../src/deploy/service.ts";
import { defineQueue, drain, type EnqueueOptions, Queue, type Waker } from "../../../src/index.ts";
import { dollars } from "../../../src/local/index.ts";
import { useBilled } from "../../support/billed.ts";
import {
  expectRow,
  idleCommands,
  million,
  minutesOfMonth,
  price,
  prose,
  row,
} from "../../support/costs-page.ts";
import { many } from "../../support/new-tasks.ts";

// What whole uses cost: the examples of docs/costs.md except flows, order and debounce, the rows of the README, and an idle queue. All other
// figures of docs/costs.md are asserted call by call in the other files of this folder.

const billed = useBilled();
const { cost } = billed;
beforeEach(() => void vi.spyOn(console, "info").mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

let instances = 0;

/** Stops the clock of this process, so that no count depends on how long a test takes. */
const atInstant = (at = Date.now()) => vi.spyOn(Date, "now").mockReturnValue(at);

/** What a request to a deployment costs that enqueues a task, up to the task's end; `requests` are those of the second. */
async function alone(
  options: (count: number) => EnqueueOptions = () => ({}),
  tasks = 2,
  more: Partial<ConstructorParameters<typeof Service>[2]> = {},
) {
  let [completed, enqueued] = [0, 0];
  const env = { UPSTASH_REDIS_REST_URL: billed.gateway.url, UPSTASH_REDIS_REST_TOKEN: billed.gateway.token };
  const requestTo = (name: string) => async () => {
    const service = new Service<object>(
      env,
      {
        consumers: { [name]: () => void completed++ },
        fetch: async (_, { queue }) =>
          Response.json(await queue(name).enqueue({ to: "a@example.com" }, options(enqueued++))),
      },
      { transport: overHttp, budget: "5s", afterResponse: "bounded", ...more },
    );
    const after: Promise<unknown>[] = [];
    await service.fetch(new Request("http://sluice.test/"), (promise) => void after.push(promise));
    await Promise.all(after);
  };
  // This process has not registered the queue yet.
  const request = requestTo(`${billed.queue.name}-alone-${instances++}`);
  const first = await cost(request);
  // No enqueue relies on what another one has seen more than a second before.
  const later = atInstant(Date.now() + 2_000);
  const further = await cost(request);
  later.mockRestore();
  expect(completed).toBe(tasks);
  const { requests, byCommand } = billed.gateway.usage();
  return { first, further, requests, byCommand };
}

/** What a hundred tasks cost that are enqueued one at a time, and worked on in tens by a drain. */
async function inTens(): Promise<number> {
  const wake: Waker = { wake: () => {}, window: "1h" };
  const producer = new Queue(billed.queue.name, { transport: billed.transport, wake });
  let completed = 0;
  const commands = await cost(async () => {
    const clock = atInstant();
    for (let i = 0; i < 100; i++) await producer.enqueue({ to: "a@example.com" });
    clock.mockRestore();
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

test("a lone task of a deployment costs two requests, also with an id of its own; one whose id is known two, and 7 commands", async () => {
  const plain = await alone();
  expect(plain.requests).toBe(2);
  const { EVALSHA = 0, HSET = 0, RPOP = 0, ZADD = 0, ZREM = 0 } = plain.byCommand;
  const writes = EVALSHA + HSET + RPOP + ZADD + ZREM;
  expect(prose("docs/costs.md")).toContain(
    `Of the ${plain.further} commands of a lone task, ${writes} are or contain writes: ` +
      `${plain.further + writes} with one read region.`,
  );
  expect(await alone((i) => ({ id: `mine-${i}` }))).toEqual(plain);
  expect(await alone(() => ({ id: "same" }), 1)).toMatchObject({ further: 7, requests: 2 });
});

test("a pull over HTTP costs one request, also the first of an instance", async () => {
  const { url, token } = billed.gateway;
  const bearer = "all-0123456789abcdef";
  const service = new Service<object>(
    {
      UPSTASH_REDIS_REST_URL: url,
      UPSTASH_REDIS_REST_TOKEN: token,
      SLUICE_TOKENS: JSON.stringify([{ token: bearer, scopes: ["consume"], queues: "*" }]),
    },
    {},
    { transport: overHttp, budget: "5s", afterResponse: "bounded" },
  );
  await billed.queue.enqueue(1);
  billed.gateway.resetUsage();
  const pull = new Request(`http://sluice.test/v1/queues/${billed.queue.name}/tasks/pull`, {
    method: "POST",
    headers: { authorization: `Bearer ${bearer}` },
  });
  expect(await (await service.fetch(pull)).json()).toMatchObject({ tasks: [{ payload: 1 }] });
  expect(billed.gateway.usage()).toMatchObject({ requests: 1, commands: 6 });
});

test("the prices of a task in README and docs/costs.md are what it costs", async () => {
  const { first, further } = await alone();
  const next = await alone(undefined, 2, { beginsAfterResponse: true });
  const [tens, hundreds] = [(await inTens()) / 100, (await inHundreds()) / 100];
  expect(row("README.md", "worked on in tens")).toEqual(price(tens));
  expect(row("README.md", "in batches of 100")).toEqual(price(hundreds));
  expect(row("README.md", "in a deployment")).toEqual([
    `${further} to ${first}`,
    `${million(further)} to ${million(first)}`,
  ]);
  expect(row("docs/costs.md", "alone in a deployment")).toEqual(price(further));
  expect(row("docs/costs.md", "the first in a minute")).toEqual(price(first));
  expect(row("docs/costs.md", "in Next.js")).toEqual(price(next.further));
  expect(row("docs/costs.md", "with waking, worked on in tens")).toEqual(price(tens));
  expect(row("docs/costs.md", "in batches of 100: ")).toEqual(price(hundreds));
});

test("the monthly sums of the examples are those of their tasks and of an idle queue with records", async () => {
  const costs = {
    "welcome mails": [9_000, (await alone()).first],
    "a nightly import": [3_000_000, (await inHundreds()) / 100],
    webhooks: [1_000_000, (await inTens()) / 100],
  } as const;
  for (const [example, [tasks, each]] of Object.entries(costs)) expectRow(example, tasks, each);
});

test("a fixed plan of 10 $ costs less from as many tasks on as docs/costs.md says, and a second has room for as many", async () => {
  const perTask = [(await alone()).further, (await inTens()) / 100, (await inHundreds()) / 100] as const;
  const [lone, tens] = perTask.map((commands) => (10 / dollars(1) - idleCommands()) / commands);
  const rounded = (count: number | undefined, to: number) =>
    (Math.round((count ?? 0) / to) * to).toLocaleString("en");
  const costs = prose("docs/costs.md");
  expect(costs).toContain(
    `from about ${rounded(lone, 50_000)} lone tasks a month on, or from about ${rounded(tens, 50_000)} such tasks on`,
  );
  const [loneInSecond, tensInSecond, hundredsInSecond] = perTask.map((commands) => 10_000 / commands);
  expect(costs).toContain(
    `at most 10,000 commands a second: some ${rounded(loneInSecond, 10)} lone tasks, ` +
      `${rounded(tensInSecond, 1_000)} in tens, or ${rounded(hundredsInSecond, 5_000)} in batches of 100`,
  );
});

/** The price in dollars of that many commands a minute for a month. */
const monthly = (commands: number) => dollars(commands * minutesOfMonth).toFixed(2);

type Deployment = ConstructorParameters<typeof Service<object>>[1];

/**
 * A new instance of a deployment; `cron` and `request` return how many commands they cost, `request` without the work
 * after the response.
 */
function instance(deployment: Deployment) {
  const { url, token } = billed.gateway;
  const service = new Service<object>(
    { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token },
    deployment,
    { transport: overHttp, budget: "5s", afterResponse: "bounded" },
  );
  return {
    cron: () => billed.cost(() => service.cron()),
    async request() {
      const after: Promise<unknown>[] = [];
      const fetch = () => service.fetch(new Request("http://sluice.test/"), (work) => void after.push(work));
      const commands = await billed.cost(fetch);
      await Promise.all(after);
      return commands;
    },
  };
}

test("a queue with a consumer and a minute cron costs, while it is idle, what the README and docs/costs.md say", async () => {
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
  const [said] =
    /\*\*Idle\*\*: .*? \(`npm test -- test\/proofs\/budget\/examples`/.exec(prose("docs/costs.md")) ?? [];
  expect(said).toBe(
    `**Idle**: a queue with a consumer and a minute cron costs at most ${idle} commands a minute, ` +
      `${(idle * minutesOfMonth).toLocaleString("en")} a month: ${monthly(idle)} $; ` +
      `each further queue ${monthly(further)} $. ` +
      "That holds once no record is left. While results or dead letters are kept, it is " +
      `${kept} commands a minute and ${tenth} in each tenth minute: ` +
      `${(withRecords * minutesOfMonth).toLocaleString("en")} a month, ${monthly(withRecords)} $. ` +
      "(`npm test -- test/proofs/budget/examples`",
  );
  expect(prose("README.md")).toContain(
    `An idle queue with a cron each minute costs ${monthly(idle)} $ a month, or ${monthly(withRecords)} $ while records`,
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
