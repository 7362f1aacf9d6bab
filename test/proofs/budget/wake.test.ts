import { beforeEach, describe, expect, test, vi } from "vitest";
import { type LeasedTask, Operator, Queue, sweep, type Transport, type Waker } from "../../../src/index.ts";
import { useBilled } from "../../support/billed.ts";
import { many, numbered } from "../../support/new-tasks.ts";
import { useSimulatedTime } from "../../support/simulated-time.ts";

// What waking and waiting cost, in commands as Upstash bills them, for docs/costs.md.

const wake: Waker = { wake: () => {}, window: "1h" };
const billed = useBilled();
const { cost } = billed;
let queue: Queue;
let operator: Operator;
beforeEach(() => void ({ queue, operator } = billed));
const producer = () => new Queue(queue.name, { transport: billed.transport, wake });
const sweepOnce = (waker = wake) => cost(() => sweep(billed.transport, { wake: waker }));

describe("waking", () => {
  test("costs a single enqueue 1, and 1 more if it wakes for a task that is not plain; a batch nothing; a dequeue nothing, and 1 if it is the first to find nothing", async () => {
    expect(await cost(() => producer().enqueue(1, { id: "a" }))).toBe(4 + 2);
    expect(await cost(() => producer().enqueue(1, { id: "b" }))).toBe(4 + 1);
    expect(await cost(() => producer().enqueue(1))).toBe(4 + 1);
    const plain = await cost(() => queue.enqueueMany(many(10)));
    expect(await cost(() => producer().enqueueMany(many(10)))).toBe(plain);
    let tasks: readonly LeasedTask[] = [];
    expect(await cost(async () => (tasks = await queue.dequeue()))).toBe(6);
    for (const task of [...tasks, ...(await queue.dequeue({ max: 100 }))]) await task.complete();
    expect(await cost(() => queue.dequeue())).toBe(5 + 1);
    expect(await cost(() => queue.dequeue())).toBe(5);
  });

  test("costs a lone enqueue nothing while a wake is known to count and others wait; 1 if none waits, 2 if it wakes then", async () => {
    const waking = producer();
    const clock = vi.spyOn(Date, "now").mockReturnValue(Date.now());
    const enqueue = () => cost(() => waking.enqueue(1));
    expect([await enqueue(), await enqueue()]).toEqual([5, 4]);
    const finish = async () => {
      const tasks = await queue.dequeue({ max: 10 });
      await queue.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" })));
    };
    await finish();
    expect(await enqueue()).toBe(5);
    await finish();
    // The consumer finds nothing.
    await queue.dequeue();
    expect(await enqueue()).toBe(6);
    clock.mockReturnValue(Date.now() + 1_001);
    expect(await enqueue()).toBe(5);
    clock.mockRestore();
  });

  test("costs a sweep 1 for a queue without ready tasks, 2 with an active consumer, 3 if it wakes", async () => {
    await queue.enqueue(1, { delay: "1h" });
    expect(await sweepOnce()).toBe(3 + 5 + 1);
    await queue.enqueue(1);
    expect(await sweepOnce()).toBe(3 + 5 + 3);
    expect(await sweepOnce()).toBe(3 + 5 + 2);
  });

  test("another consumer costs 4, and 3 if one was woken within the window", async () => {
    expect(await cost(() => producer().wakeAnother())).toBe(4);
    expect(await cost(() => producer().wakeAnother())).toBe(3);
  });
});

describe("the wake of an operator's call", () => {
  const by = (waker?: Waker) => new Operator(queue.name, { transport: billed.transport, wake: waker });
  const dead = async () => {
    await queue.enqueue(1);
    await (await queue.dequeue())[0]?.reject("no");
    // As if no consumer was awake.
    await queue.dequeue();
  };
  const held = async () => {
    await queue.enqueueMany(many(2));
    await queue.dequeue();
    await queue.dequeue({ worker: { name: "w" } });
  };
  const paused = async () => {
    await operator.pause();
    await queue.enqueue(1);
  };

  test.each<[string, () => Promise<unknown>, (operator: Operator) => Promise<unknown>]>([
    ["a redrive", dead, (waking) => waking.redrive({ reason: "rejected", limit: 1 })],
    ["a failed worker", held, (waking) => waking.failWorker("w")],
    ["a resume", paused, (waking) => waking.resume()],
    ["a limit", () => queue.enqueue(1), (waking) => waking.configure({ maxWorking: 1 })],
  ])("costs %s 2, and nothing without a waker", async (_, prepare, call) => {
    // So that both are not the first call of an operator.
    await operator.configure({});
    await prepare();
    const plain = await cost(() => call(by()));
    await operator.deleteQueue({ force: true });
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
    await queue.dequeue({ max: 10 });
    await operator.pause();
    expect(await cost(() => by(wake).resume())).toBe(6 + 1);
    expect(await cost(() => by(wake).resume())).toBe(5);
  });
});

describe("looking ahead", () => {
  const later: Waker = { ...wake, wakeAt: () => {}, sweepAt: () => {} };

  test("costs an enqueue, a settle and a schedule nothing", async () => {
    const ahead = new Queue(queue.name, { transport: billed.transport, wake: later });
    const delay = { delay: "1h" } as const;
    expect(await cost(() => ahead.enqueue(1, delay))).toBe(await cost(() => producer().enqueue(1, delay)));
    await queue.enqueueMany(many(2));
    const [a, b] = [await producer().dequeue(), await ahead.dequeue()];
    expect(await cost(async () => b[0]?.requeue(delay))).toBe(await cost(async () => a[0]?.requeue(delay)));
  });

  test("costs a sweep nothing if nothing is due; 2 more if tasks are, 3 more if leases have expired; of one queue 2, instead of the 3 that list all queues", async () => {
    const none = await sweepOnce();
    expect(await sweepOnce(later)).toBe(none);
    const only = { wake: later, queue: queue.name };
    expect(await cost(() => sweep(billed.transport, only))).toBe(none - 1);
    /** What it costs once the time of three tasks in a part of the queue is over. */
    const sweptAfter = async (part: "delayed" | "working", waker: Waker) => {
      await operator.deleteQueue({ force: true });
      await queue.enqueueMany(many(3, { delay: "1h" }));
      const delay = part === "delayed" ? { delay: "1h" as const } : {};
      await queue.enqueueMany(numbered(3, delay));
      await queue.dequeue({ max: 3 });
      const [first, ...others] = numbered(3).map(({ id }) => ({ score: 1, member: id }));
      if (first) await billed.client.zadd(`sluice:{${queue.name}}:${part}`, { xx: true }, first, ...others);
      return sweepOnce(waker);
    };
    expect(await sweptAfter("delayed", later)).toBe((await sweptAfter("delayed", wake)) + 2);
    expect(await sweptAfter("working", later)).toBe((await sweptAfter("working", wake)) + 3);
  });
});

describe("waiting without a result", () => {
  const time = useSimulatedTime();
  let requests = 0;
  beforeEach(() => {
    const { send } = billed.transport;
    const counting: Transport = { send: (...args) => (requests++, send(...args)) };
    const transport = time.through(counting);
    queue = new Queue(queue.name, { transport });
    operator = new Operator(queue.name, { transport });
  });

  test("costs 5 at its start and its end, in between 1 twice a second, and 1 every two seconds", async () => {
    // 100, 200 and 400 ms after the last, then every 500 ms: 7.
    expect(await cost(() => queue.dequeue({ wait: "3s" }))).toBe(5 + 7 + 1 + 5);
  });

  const rate = { most: 1, per: "1h" } as const;
  test.each<[string, number, () => Promise<unknown>, object]>([
    ["a pause", 19, () => operator.pause(), {}],
    ["the queue's maxWorking", 36, () => operator.configure({ maxWorking: 1 }), {}],
    ["the queue's rate", 24, () => operator.configure({ rate }), {}],
    ["a group's maxWorking", 35, () => operator.configureGroup("a", { maxWorking: 1 }), { group: "a" }],
    ["a group's rate", 37, () => operator.configureGroup("a", { rate }), { group: "a" }],
  ])(
    "costs at most 13 a second if %s holds the tasks: %i in four seconds",
    async (_, commands, hold, options) => {
      await queue.enqueueMany(many(2, options));
      await hold();
      await queue.dequeue();
      expect(await cost(() => queue.dequeue({ wait: "4s" }))).toBe(commands);
    },
  );

  test("costs 1 more if a task is due later, to read Redis's time", async () => {
    await queue.enqueue(1, { delay: "1h" });
    expect(await cost(() => queue.dequeue())).toBe(6);
    requests = 0;
    const commands = await cost(() => queue.dequeue({ wait: "1s" }));
    // Between the dequeues at its start and end.
    const looks = requests - 2;
    expect([looks, commands]).toEqual([3, 6 + looks + 1 + 6]);
  });
});
