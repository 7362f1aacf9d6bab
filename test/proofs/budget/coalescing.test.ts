import { describe, expect, test } from "vitest";
import { drain, type LeasedTask, Queue } from "../../../src/index.ts";
import { useBilled } from "../../support/billed.ts";
import { dice } from "../../support/dice.ts";
import { many } from "../../support/new-tasks.ts";
import { useSimulatedTime } from "../../support/simulated-time.ts";

// What single calls that share requests cost, in commands as Upstash bills them. Counts within a turn are
// exact. How many calls share a request while one is in flight depends on when it is answered, so the others assert
// bounds.

const billed = useBilled();

const times = <T>(count: number, call: () => Promise<T>) => Promise.all(Array.from({ length: count }, call));

test("a hundred single calls of one turn cost as much as a batch of a hundred: 18 for the whole cycle", async () => {
  const { queue, cost } = billed;
  let tasks: LeasedTask[] = [];
  expect(await cost(() => times(100, () => queue.enqueue({ to: "a@example.com" })))).toBe(5);
  expect(await cost(async () => (tasks = (await times(100, () => queue.dequeue())).flat()))).toBe(7);
  expect(tasks).toHaveLength(100);
  expect(await cost(() => Promise.all(tasks.map((task) => task.complete({ ok: true }))))).toBe(6);
});

test("the first calls of a queue in a minute also register it: 3 more", async () => {
  const fresh = new Queue("fresh", { transport: billed.transport });
  expect(await billed.cost(() => times(100, () => fresh.enqueue(1)))).toBe(5 + 3);
});

test("50 concurrent callers of the whole cycle cost at most 0.6 commands a task in the in-flight mode", async () => {
  const { queue, gateway, cost } = billed;
  const server = new Queue(queue.name, { transport: billed.transport, coalesce: "in-flight" });
  let completed = 0;
  const commands = await cost(() =>
    times(50, async () => {
      for (let i = 0; i < 10; i++) {
        await server.enqueue({ to: "a@example.com" });
        const [task] = await server.dequeue();
        if ((await task?.complete())?.ok) completed++;
      }
    }),
  );
  expect(completed).toBe(500);
  expect(commands / completed).toBeLessThanOrEqual(0.6);
  expect(gateway.usage().requests / completed).toBeLessThanOrEqual(0.1);
});

describe("a drain whose handlers end one by one", () => {
  const TASKS = 600;
  const time = useSimulatedTime();

  test.each([
    ["batches chosen by the drain", undefined, 11],
    ["batches of 10", 10, 8],
  ])("handlers of 5 to 50 ms, twenty at once, %s: 1.5 commands a task", async (_, batch, tasksARequest) => {
    time.roundTrip = 2;
    const random = dice(1);
    const tasks = many(TASKS, { resultTtl: 0 }).map((task) => ({ ...task, payload: 5 + random() * 45 }));
    const queue = new Queue<number>(billed.queue.name, { transport: time.through(billed.transport) });
    await queue.enqueueMany(tasks);
    billed.gateway.resetUsage();
    const report = await drain(
      queue,
      ({ payload }) => new Promise<void>((resolve) => setTimeout(resolve, payload)),
      { concurrency: 20, batch, budget: "60s" },
    );
    const { requests, commands } = billed.gateway.usage();
    expect(report.completed).toBe(TASKS);
    expect(TASKS / requests).toBeGreaterThanOrEqual(tasksARequest);
    expect(commands / TASKS).toBeLessThanOrEqual(1.5);
  });
});
