import { operations } from "../../../src/http/operations/index.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { commandsPerCall, estimatedCommands, Operator, Queue } from "../../../src/index.ts";
import { createApp } from "../../../src/http/app.ts";
import { upstash } from "../../../src/transports/upstash.ts";
import { asker, type Ask, tokens } from "../../http/served.ts";
import { useBilled } from "../../support/billed.ts";
import { readMetrics } from "../../support/open-metrics.ts";

// What the routes for dashboards, Prometheus and autoscalers cost.

const billed = useBilled();
let ask: Ask;
beforeAll(() => {
  const { url, token } = billed.gateway;
  const app = createApp({ operations, transport: upstash({ url, token }), tokens });
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
  const { transport } = billed;
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

test("the estimate of commands is what plain calls cost with statistics on; a settle that also dequeues counts as one of each, and costs 2 less", async () => {
  // At one instant, because the first call of a minute costs 1 more.
  const [now, transport] = [() => 1_800_000_000_000, billed.transport];
  const operator = new Operator("timed", { transport, now });
  const queue = new Queue("timed", { transport, now });
  await operator.configure({ statistics: true });
  for (const id of ["first", "second"]) await queue.enqueue(0, { id });
  await queue.cancel("first");
  let [task] = await queue.dequeue();
  const calls: (() => Promise<unknown>)[] = [
    () => queue.enqueue(1),
    () => queue.enqueue(2),
    async () => task?.complete(),
    async () => ([task] = await queue.dequeue()),
    async () => {
      const settlements = [{ receipt: task?.receipt ?? "", outcome: "complete" as const }];
      await queue.settleAndDequeue(settlements, { max: 1 });
    },
    () => queue.enqueue(3, { id: "x" }),
    () => queue.cancel("x"),
  ];
  const costs: number[] = [];
  // The clock of a test saves the command TIME.
  for (const call of calls) costs.push(1 + (await billed.cost(call)));
  const { enqueue, dequeue, settle, other } = commandsPerCall;
  expect(costs).toEqual([enqueue, enqueue, settle, dequeue, settle + dequeue - 2, enqueue, other]);
  const counted = { enqueue: 5, dequeue: 3, settle: 2, other: 2 };
  expect((await operator.statistics()).totals.calls).toEqual(counted);
  expect(estimatedCommands(counted)).toBe(5 * 5 + 3 * 6 + 2 * 6 + 2 * 6);
});
