import { expect, test } from "vitest";
import { Queue } from "../../src/index.ts";
import { useBilled } from "../support/billed.ts";

// What single calls that share requests cost, in commands as Upstash bills them. Counts within a turn are
// exact. How many calls share a request while one is in flight depends on timing, so that test asserts a
// bound.

const billed = useBilled(async ({ queue }) => {
  await queue.enqueue("warm");
  await (await queue.dequeue())[0]?.complete();
});

const times = <T>(count: number, call: () => Promise<T>) => Promise.all(Array.from({ length: count }, call));

test("a hundred single calls of one turn cost as much as a batch of a hundred: 18 for the whole cycle", async () => {
  const { queue, cost } = billed;
  let tasks: Awaited<ReturnType<typeof queue.dequeue>>[number][] = [];
  const costs = {
    enqueue: await cost(() => times(100, () => queue.enqueue({ to: "a@example.com" }))),
    dequeue: await cost(async () => (tasks = (await times(100, () => queue.dequeue())).flat())),
    complete: await cost(() => Promise.all(tasks.map((task) => task.complete({ ok: true })))),
  };
  expect(tasks).toHaveLength(100);
  expect(costs).toEqual({ enqueue: 5, dequeue: 7, complete: 6 });
});

test("the first calls of a queue in a minute also register it: 3 more", async () => {
  const fresh = new Queue("fresh", { transport: billed.queue["transport"] });
  expect(await billed.cost(() => times(100, () => fresh.enqueue(1)))).toBe(5 + 3);
});

test("50 concurrent callers of the whole cycle cost at most 0.6 commands a task in the in-flight mode", async () => {
  const { queue, gateway, cost } = billed;
  const server = new Queue(queue.name, { transport: queue["transport"], coalesce: "in-flight" });
  let completed = 0;
  const commands = await cost(() =>
    times(50, async () => {
      for (let i = 0; i < 20; i++) {
        await server.enqueue({ to: "a@example.com" });
        const [task] = await server.dequeue();
        if ((await task?.complete())?.ok) completed++;
      }
    }),
  );
  expect(completed).toBe(1_000);
  expect(commands / completed).toBeLessThanOrEqual(0.6);
  expect(gateway.usage().requests / completed).toBeLessThanOrEqual(0.1);
});
