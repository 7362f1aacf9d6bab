import { describe, expect, test } from "vitest";
import { Operator, Queue, sweep, type Waker } from "../../src/index.ts";
import { useBilled } from "../support/billed.ts";
import { many } from "../support/new-tasks.ts";

// What waking and waiting cost, in commands as Upstash bills them, for the README's table.

const wake: Waker = { wake: () => {}, window: "1h" };
const billed = useBilled(async ({ queue }) => {
  const waking = new Queue(queue.name, { transport: queue["transport"], wake });
  await waking.enqueue("warm");
  await (await queue.dequeue())[0]?.complete();
  await queue.dequeue();
  await waking.wakeAnother();
  await queue.dequeue();
  await sweep(queue["transport"], { wake });
});
const { cost } = billed;
const producer = () => new Queue(billed.queue.name, { transport: billed.queue["transport"], wake });
const sweepOnce = () => sweep(billed.queue["transport"], { wake });

describe("waking", () => {
  test("costs a single enqueue 1, and 1 more if it wakes; a batch nothing", async () => {
    expect(await cost(() => producer().enqueue(1))).toBe(4 + 2);
    expect(await cost(() => producer().enqueue(1))).toBe(4 + 1);
    const plain = await cost(() => billed.queue.enqueueMany(many(10)));
    expect(await cost(() => producer().enqueueMany(many(10)))).toBe(plain);
  });

  test("costs a dequeue nothing, and 1 if it is the first to find nothing", async () => {
    await producer().enqueue(1);
    let [task]: Awaited<ReturnType<typeof billed.queue.dequeue>> = [] as never;
    expect(await cost(async () => ([task] = await billed.queue.dequeue()))).toBe(6);
    await task?.complete();
    expect(await cost(() => billed.queue.dequeue())).toBe(5 + 1);
    expect(await cost(() => billed.queue.dequeue())).toBe(5);
  });

  test("costs a sweep 1 for a queue without ready tasks, 2 with an active consumer, 3 if it wakes", async () => {
    await billed.queue.enqueue(1, { delay: "1h" });
    expect(await cost(sweepOnce)).toBe(3 + 5 + 1);
    await billed.queue.enqueue(1);
    expect(await cost(sweepOnce)).toBe(3 + 5 + 3);
    expect(await cost(sweepOnce)).toBe(3 + 5 + 2);
  });

  test("another consumer costs 4, and 3 if one was woken within the window", async () => {
    expect(await cost(() => producer().wakeAnother())).toBe(4);
    expect(await cost(() => producer().wakeAnother())).toBe(3);
  });
});

describe("waiting without a result", () => {
  test("costs 5 at its start and its end, in between 1 twice a second, and 1 every two seconds", async () => {
    const commands = await cost(() => billed.queue.dequeue({ wait: "3s" }));
    // 100, 200 and 400 ms after the last, then every 500 ms: 7; fewer on a slow machine.
    expect(commands).toBeLessThanOrEqual(5 + 7 + 1 + 5);
    expect(commands).toBeGreaterThan(5 + 5);
  });

  test.each<[string, (operator: Operator) => Promise<unknown>, object]>([
    ["a pause", (operator) => operator.pause(), {}],
    ["the queue's maxWorking", (operator) => operator.configure({ maxWorking: 1 }), {}],
    ["the queue's rate", (operator) => operator.configure({ rate: { most: 1, per: "1h" } }), {}],
    ["a group's maxWorking", (operator) => operator.configureGroup("a", { maxWorking: 1 }), { group: "a" }],
    [
      "a group's rate",
      (operator) => operator.configureGroup("a", { rate: { most: 1, per: "1h" } }),
      { group: "a" },
    ],
  ])("costs at most 13 a second if %s holds the tasks", async (_, hold, options) => {
    await billed.queue.enqueueMany(many(2, options));
    const operator = new Operator(billed.queue.name, { transport: billed.queue["transport"] });
    await hold(operator);
    await billed.queue.dequeue();
    const commands = await cost(() => billed.queue.dequeue({ wait: "4s" }));
    // Beside the dequeues at its start and end. A slow machine makes fewer calls.
    expect(commands).toBeLessThanOrEqual(9 + 4 * 13 + 9);
    expect(commands).toBeGreaterThan(4 + 4 * 1);
  });

  test("costs 1 more if a task is due later, to read Redis's time", async () => {
    await billed.queue.enqueue(1, { delay: "1h" });
    expect(await cost(() => billed.queue.dequeue())).toBe(6);
    expect(await cost(() => billed.queue.dequeue({ wait: 50 }))).toBe(6 + 6);
    expect(await cost(() => billed.queue.dequeue({ wait: 150 }))).toBe(6 + 2 + 6);
  });
});
