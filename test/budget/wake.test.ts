import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Operator, Queue, sweep, type Transport, type Waker } from "../../src/index.ts";
import { useBilled } from "../support/billed.ts";
import { many } from "../support/new-tasks.ts";

// What waking and waiting cost, in commands as Upstash bills them, for docs/costs.md.

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

describe("the wake of an operator's call", () => {
  const by = (waker?: Waker) =>
    new Operator(billed.queue.name, { transport: billed.queue["transport"], wake: waker });
  const dead = async () => {
    await billed.queue.enqueue(1);
    await (await billed.queue.dequeue())[0]?.reject("no");
    // As if no consumer was awake.
    await billed.queue.dequeue();
  };
  const worker = { name: "w" };

  test.each<[string, () => Promise<unknown>, (operator: Operator) => Promise<unknown>]>([
    ["a redrive", dead, (operator) => operator.redrive({ reason: "rejected", limit: 1 })],
    [
      "a failed worker",
      async () => {
        await billed.queue.enqueue(1);
        await billed.queue.dequeue();
        await billed.queue.enqueue(1);
        await billed.queue.dequeue({ worker });
      },
      (operator) => operator.failWorker("w"),
    ],
    [
      "a resume",
      async () => {
        await by().pause();
        await billed.queue.enqueue(1);
      },
      (operator) => operator.resume(),
    ],
    [
      "a limit",
      async () => {
        await by().configure({ maxWorking: null });
        await billed.queue.enqueue(1);
      },
      (operator) => operator.configure({ maxWorking: 1 }),
    ],
  ])("costs %s 2, and nothing without a waker", async (_, prepare, call) => {
    await prepare();
    await call(by());
    await by().deleteQueue({ force: true });
    await prepare();
    const plain = await cost(() => call(by()));
    await by().deleteQueue({ force: true });
    await prepare();
    expect(await cost(() => call(by(wake)))).toBe(plain + 2);
  });

  test("costs a redrive 1 if a consumer is awake, and a resume 1 if no task is ready", async () => {
    await dead();
    await producer().enqueue(1);
    const ids = (await by().list({ state: "rejected" })).tasks.map(({ id }) => id);
    const plain = await cost(() => by().redrive({ ids, dryRun: true }));
    expect(await cost(() => by(wake).redrive({ ids, dryRun: true }))).toBe(plain);
    expect(await cost(() => by(wake).redrive({ ids }))).toBe(8 + 1);
    await billed.queue.dequeue({ max: 10 });
    await by().pause();
    expect(await cost(() => by(wake).resume())).toBe(6 + 1);
    expect(await cost(() => by(wake).resume())).toBe(5);
  });
});

describe("looking ahead", () => {
  const later: Waker = { ...wake, wakeAt: () => {}, sweepAt: () => {} };
  const swept = (waker: Waker) => cost(() => sweep(billed.queue["transport"], { wake: waker }));

  test("costs an enqueue, a settle and a schedule nothing", async () => {
    const plain = new Queue(billed.queue.name, { transport: billed.queue["transport"], wake });
    const ahead = new Queue(billed.queue.name, { transport: billed.queue["transport"], wake: later });
    const delay = { delay: "1h" } as const;
    expect(await cost(() => ahead.enqueue(1, delay))).toBe(await cost(() => plain.enqueue(1, delay)));
    await billed.queue.enqueueMany(many(2));
    const [a, b] = [await plain.dequeue(), await ahead.dequeue()];
    expect(await cost(async () => b[0]?.requeue(delay))).toBe(await cost(async () => a[0]?.requeue(delay)));
  });

  test("costs a sweep nothing if nothing is due; 2 more if tasks are, 3 more if leases have expired", async () => {
    expect(await swept(later)).toBe(await swept(wake));
    const operator = new Operator(billed.queue.name, { transport: billed.queue["transport"] });
    const sweptAfter = async (prepare: () => Promise<unknown>, waker: Waker) => {
      await operator.deleteQueue({ force: true });
      await billed.queue.enqueueMany(many(3, { delay: "1h" }));
      await prepare();
      await sleep(5);
      return swept(waker);
    };
    const due = () => billed.queue.enqueueMany(many(3, { delay: "1ms" }));
    expect(await sweptAfter(due, later)).toBe((await sweptAfter(due, wake)) + 2);
    const expired = async () => {
      await billed.queue.enqueueMany(many(3, { lease: "1ms" }));
      await billed.queue.dequeue({ max: 3 });
    };
    expect(await sweptAfter(expired, later)).toBe((await sweptAfter(expired, wake)) + 3);
  });

  test("costs a sweep of one queue 2, instead of the 3 that list all queues", async () => {
    const all = await swept(later);
    const { name } = billed.queue;
    expect(await cost(() => sweep(billed.queue["transport"], { wake: later, queue: name }))).toBe(all - 1);
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
    let requests = 0;
    const transport: Transport = {
      send: (commands, options) => (requests++, billed.queue["transport"].send(commands, options)),
    };
    const queue = new Queue(billed.queue.name, { transport });
    const commands = await cost(() => queue.dequeue({ wait: "1s" }));
    // How many looks there are between the dequeues at its start and end depends on the machine.
    const looks = requests - 2;
    expect(commands - (6 + 6)).toBe(looks === 0 ? 0 : looks + 1);
  });
});
