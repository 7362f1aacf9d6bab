import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { Redis } from "@upstash/redis";
import { deepSweep, Queue, sweep } from "../../src/index.ts";
import { abreast } from "../support/abreast.ts";
import { useBilled } from "../support/billed.ts";

// What sweeps that find something cost, and deep sweeps.

const billed = useBilled(async ({ queue, operator }) => {
  await queue.enqueue(1, { group: "a", delay: "1ms" });
  await sleep(5);
  await sweep(queue["transport"]);
  await (await queue.dequeue())[0]?.complete();
  await queue.enqueue(1, { group: "a" });
  await deepSweep(queue["transport"], { queue: queue.name });
  await operator.deleteQueue();
  await queue.enqueue(1, { resultTtl: 0 });
  await (await queue.dequeue())[0]?.complete();
});
const { cost } = billed;
let queue: Queue;
beforeEach(() => {
  ({ queue } = billed);
});

const tasks = (count: number, options = {}) =>
  Array.from({ length: count }, (_, i) => ({ payload: i, id: `t${i}`, ...options }));

describe("a sweep", () => {
  const swept = () => cost(() => sweep(queue["transport"]));
  const none = 3 + 5;

  test.each([
    [2, 4, "100 tasks", {}],
    [6, 6, "100 tasks of a group", { group: "a" }],
  ])("costs %i more to promote and %i to reclaim %s", async (promote, reclaim, _, options) => {
    await queue.enqueueMany(tasks(100, { delay: "1ms", lease: "1ms", ...options }));
    await sleep(5);
    expect(await swept()).toBe(none + promote);
    await queue.dequeue({ max: 100 });
    await sleep(5);
    expect(await swept()).toBe(none + reclaim);
  });

  test.each([
    ["5 more for 100 expired records", {}, 5],
    ["6 more for 100 expired records whose ids are unique for longer", { unique: "24h" }, 6],
  ])("costs %s", async (_, options, more) => {
    await queue.enqueueMany(tasks(100, options));
    const batch = await queue.dequeue({ max: 100 });
    await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "complete" as const, result: 1 })));
    const client = new Redis({ url: billed.gateway.url, token: billed.gateway.token });
    const [first, ...rest] = batch.map(({ id }) => ({ score: 1, member: id }));
    if (first) await client.zadd(`sluice:{${queue.name}}:expiry`, { xx: true }, first, ...rest);
    expect(await swept()).toBe(none + more);
  });
});

describe("a deep sweep", () => {
  const deep = (name = queue.name) => cost(() => deepSweep(queue["transport"], { queue: name }));

  test("costs 2 for a queue without keys, 15 for one that was used a little, 3 for the list of queues", async () => {
    // Of a queue by its name 1 more reads which partitions it has.
    expect(await deep("never-used")).toBe(2 + 1);
    expect(await deep()).toBe(15 + 1);
    expect(await cost(() => deepSweep(queue["transport"]))).toBe(15 + 3);
  });

  // The traces of many calls, such as slots of dequeues, are read in scans, whose pages are random.
  test.each([
    ["has had many calls", () => queue],
    ["has never had a task, but many calls", () => new Queue("noted", { transport: queue["transport"] })],
  ])("costs at most 20 for an idle queue that %s", async (_, used) => {
    const idle = used();
    const tokens = Array.from({ length: 2_000 }, () => crypto.randomUUID());
    await abreast(tokens, (token) => idle.dequeue({ token }));
    expect(await deep(idle.name)).toBeLessThanOrEqual(20);
  });

  test("costs at most 20 for a queue with a hundred tasks in many places, groups, limits, workers and settings", async () => {
    const { operator } = billed;
    await operator.configure({ statistics: true, maxWorking: 500, maxPending: 5_000 });
    await operator.configureGroup("capped", { maxWorking: 2 });
    const kinds = [{}, { group: "a" }, { group: "capped" }, { priority: 3 }, { delay: "1h" }] as const;
    await queue.enqueueMany(
      Array.from({ length: 100 }, (__, i) => ({ payload: "x".repeat(500), id: `t${i}`, ...kinds[i % 5] })),
    );
    for (const id of ["t0", "t1", "t2", "t4"]) await queue.cancel(id);
    const held = await queue.dequeue({ max: 30, worker: { name: "w", silentAfter: "1h" } });
    for (const task of held.slice(0, 10)) await task.complete("done");
    await held[11]?.reject("no");
    expect(await deep()).toBeLessThanOrEqual(20);
  });

  test("of 200 queues with one task each costs at most 20 commands a queue, and 5 requests", async () => {
    const names = Array.from({ length: 200 }, (_, i) => `one-${i}`);
    await abreast(names, (name) => new Queue(name, { transport: queue["transport"] }).enqueue({ for: name }));
    billed.gateway.resetUsage();
    expect(await deepSweep(queue["transport"], { queues: (name) => name.startsWith("one-") })).toMatchObject({
      queues: 200,
      entries: 400,
      faults: [],
      failed: [],
      cursor: null,
    });
    const { commands, requests } = billed.gateway.usage();
    expect(commands).toBeLessThanOrEqual(20 * 200);
    expect(requests).toBe(1 + 200 / 50);
  });

  test.each([
    ["that are pending or working", 90, {}],
    ["of a group", 110, { group: "a" }],
    ["that are delayed", 90, { delay: "1h" }],
  ])("of a queue with 100 tasks %s costs at most %i", async (_, most, options) => {
    await queue.enqueueMany(tasks(100, options));
    expect(await deep()).toBeLessThanOrEqual(most);
    await queue.dequeue({ max: 100 });
    expect(await deep()).toBeLessThanOrEqual(most);
  });

  test("costs at most 5 for each further hundred tasks, 15 in groups", async () => {
    const add = async (prefix: string, options = {}) => {
      for (let i = 0; i < 5_000; i += 1_000) {
        await queue.enqueueMany(
          tasks(1_000, options).map((task) => ({ ...task, id: `${prefix}${i}-${task.id}` })),
        );
      }
    };
    await add("a");
    const plain = await deep();
    expect(plain).toBeLessThanOrEqual(90 + 49 * 5);
    await add("b", { group: "b" });
    expect(await deep()).toBeLessThanOrEqual(plain + 50 * 15);
  });
});
