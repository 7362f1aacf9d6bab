import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { Redis } from "@upstash/redis";
import { deepSweep, Queue, sweep } from "../../src/index.ts";
import { abreast } from "../support/abreast.ts";
import { useBilled } from "../support/billed.ts";

// What sweeps cost that find something, and deep sweeps.

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

  test("costs 5 more for 100 records whose time is over", async () => {
    await queue.enqueueMany(tasks(100));
    const batch = await queue.dequeue({ max: 100 });
    await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "complete" as const, result: 1 })));
    const client = new Redis({ url: billed.gateway.url, token: billed.gateway.token });
    const [first, ...rest] = batch.map(({ id }) => ({ score: 1, member: id }));
    if (first) await client.zadd(`sluice:{${queue.name}}:expiry`, { xx: true }, first, ...rest);
    expect(await swept()).toBe(none + 5);
  });
});

describe("a deep sweep", () => {
  const deep = (name = queue.name) => cost(() => deepSweep(queue["transport"], { queue: name }));

  test("costs 59 of a queue without a key, 73 of one that was used a little, 3 for the list of queues", async () => {
    expect(await deep("never-used")).toBe(59);
    expect(await deep()).toBe(73);
    expect(await cost(() => deepSweep(queue["transport"]))).toBe(73 + 3);
  });

  // What many calls leave, such as notes of dequeues, is looked at in scans, whose pages depend on chance.
  test.each([
    [91, "has been used a lot", 73, () => queue],
    [
      75,
      "knows of no task, but of many calls",
      59,
      () => new Queue("noted", { transport: queue["transport"] }),
    ],
  ])("costs at most %i of an idle queue that %s", async (most, _, least, used) => {
    const idle = used();
    const tokens = Array.from({ length: 2_000 }, () => crypto.randomUUID());
    await abreast(tokens, (token) => idle.dequeue({ token }));
    const spent = await deep(idle.name);
    expect(spent).toBeGreaterThan(least);
    expect(spent).toBeLessThanOrEqual(most);
  });

  test.each([
    ["that wait, or are working", 90, {}],
    ["of a group", 110, { group: "a" }],
    ["that are delayed", 90, { delay: "1h" }],
  ])("of a queue with 100 tasks %s costs at most %i", async (_, most, options) => {
    await queue.enqueueMany(tasks(100, options));
    expect(await deep()).toBeLessThanOrEqual(most);
    await queue.dequeue({ max: 100 });
    expect(await deep()).toBeLessThanOrEqual(most);
  });

  test("costs at most 5 for each further hundred tasks, 15 where they are of groups", async () => {
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
