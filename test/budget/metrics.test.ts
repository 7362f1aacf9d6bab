import { beforeAll, describe, expect, test } from "vitest";
import { commandsPerCall, estimatedCommands, Operator, Queue } from "../../src/index.ts";
import { createApp } from "../../src/http/app.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { asker, type Ask, tokens } from "../http/served.ts";
import { useBilled } from "../support/billed.ts";
import { readMetrics } from "../support/open-metrics.ts";

// What the routes for dashboards, Prometheus and autoscalers cost.

const billed = useBilled(async ({ queue, operator }) => {
  await queue.enqueueMany([{ payload: 1, id: "warm" }, { payload: 2 }]);
  await (await queue.dequeue())[0]?.complete();
  await queue.cancel("warm");
  await queue.counts();
  await operator.groups();
  await operator.configure({ events: true });
  await ask("GET", "/v1/queues");
  await operator.deleteQueue({ force: true });
  await queue.enqueue(1, { resultTtl: 0 });
  await (await queue.dequeue())[0]?.complete();
});
let ask: Ask;
beforeAll(() => {
  const { url, token } = billed.gateway;
  const app = createApp({ transport: upstash({ url, token }), tokens });
  ask = asker((request) => app.fetch(request));
});

async function costOf(path: string): Promise<number> {
  return billed.cost(async () => expect((await ask("GET", path)).status).toBe(200));
}

/** What a scrape costs, and what it says that it costs. */
async function scrape(): Promise<readonly [cost: number, said: number | undefined]> {
  let body = "";
  const cost = await billed.cost(async () => {
    ({ body } = await ask("GET", "/metrics"));
  });
  return [cost, readMetrics(body, "openmetrics").get("sluice_scrape_commands")?.samples[0]?.[1]];
}

describe("a queue costs a scrape of the metrics as much as its counts, and the scrape says so", () => {
  test.each<[string, number, (queue: Queue, operator: Operator) => Promise<unknown>]>([
    ["no task", 4, async () => {}],
    ["a pending task", 11, (queue) => queue.enqueue(1)],
    ["a delayed task", 11, (queue) => queue.enqueue(1, { delay: "1h" })],
    ["a dead letter", 10, (queue) => queue.enqueue(1).then(async () => (await queue.dequeue())[0]?.reject())],
    ["a working task", 11, (queue) => queue.enqueue(1).then(() => queue.dequeue())],
    ["a task in a group", 11, (queue) => queue.enqueue(1, { group: "a" })],
    [
      "pending, delayed and working tasks, a worker and statistics",
      13,
      async (queue, operator) => {
        await operator.configure({ statistics: true });
        await queue.enqueueMany([{ payload: 1 }, { payload: 2 }, { payload: 3, delay: "1h" }]);
        await queue.dequeue({ worker: { name: "w" } });
      },
    ],
  ])("%s: %i, and 3 for the list of queues", async (_, commands, fill) => {
    await fill(billed.queue, billed.operator);
    expect(await scrape()).toEqual([3 + commands, 3 + commands]);
  });
});

test("a scrape costs as much for each partition as for a queue, and 1 for all queues that have any; it says so", async () => {
  const { url, token } = billed.gateway;
  const transport = upstash({ url, token });
  for (const name of ["first", "second"]) await new Operator(name, { transport }).resize(3);
  await new Queue("first", { transport }).enqueue(1);
  await scrape();
  const [plain, first, second] = [4, 11 + 4 + 4, 4 + 4 + 4];
  const commands = 3 + plain + first + second + 1;
  expect(await scrape()).toEqual([commands, commands]);
});

test("the overview and the load of a queue cost as much as its counts", async () => {
  await billed.queue.enqueue(1);
  const { name } = billed.queue;
  expect(await costOf(`/v1/overview?queues=${name},none`)).toBe(11 + 4);
  expect(await costOf(`/v1/queues/${name}/load`)).toBe(11);
  expect(await costOf(`/v1/queues/${name}`)).toBe(11);
  expect(await costOf("/v1/queues/none/load")).toBe(4);
});

test("the estimate of commands is what plain calls cost with statistics on", async () => {
  const { queue, operator, cost } = billed;
  await operator.configure({ statistics: true });
  const run = async (...calls: (() => Promise<unknown>)[]) => {
    const seen: number[] = [];
    for (const call of calls) seen.push(await cost(call));
    return seen;
  };
  let batch = await queue.dequeue();
  const calls = [
    () => queue.enqueue(1),
    async () => (batch = await queue.dequeue()),
    async () => batch[0]?.complete(),
    () => queue.enqueue(1, { id: "x" }),
    () => queue.cancel("x"),
  ];
  // The first call of a minute costs 1 more.
  await queue.enqueue(0, { id: "first" });
  await queue.cancel("first");
  await queue.dequeue();
  const { enqueue, dequeue, settle, other } = commandsPerCall;
  expect(await run(...calls)).toEqual([enqueue, dequeue, settle, enqueue, other]);
  const counted = { enqueue: 10, dequeue: 4, settle: 3, other: 2 };
  expect(estimatedCommands(counted)).toBe(10 * 5 + 4 * 6 + 3 * 6 + 2 * 6);
});

test("a settle that also dequeues counts as one of each, and costs 2 less", async () => {
  // At one instant, because the first call of a minute costs 1 more.
  const [now, transport] = [() => 1_800_000_000_000, billed.queue["transport"]];
  const operator = new Operator("timed", { transport, now });
  const queue = new Queue("timed", { transport, now });
  await operator.configure({ statistics: true });
  await queue.enqueueMany([{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
  let [task] = await queue.dequeue();
  const both = async () => {
    const settlements = [{ receipt: task?.receipt ?? "", outcome: "complete" as const }];
    [task] = (await queue.settleAndDequeue(settlements, { max: 1 })).tasks;
  };
  await both();
  const { settle, dequeue } = commandsPerCall;
  // The clock of a test saves the command TIME.
  expect(1 + (await billed.cost(both))).toBe(settle + dequeue - 2);
  const { calls } = (await operator.statistics()).totals;
  expect(calls).toEqual({ enqueue: 1, dequeue: 1 + 2, settle: 2, other: 0 });
});
