import { beforeEach, describe, expect, test } from "vitest";
import { deepSweep, type EnqueueOptions, Queue, sweep } from "../../../src/index.ts";
import { abreast } from "../../support/abreast.ts";
import { IDLE_SWEEP, useBilled } from "../../support/billed.ts";
import { numbered } from "../../support/new-tasks.ts";

// What sweeps that find something cost, and deep sweeps.

const billed = useBilled();
const { cost } = billed;
let queue: Queue;
beforeEach(() => void ({ queue } = billed));

/** Lets the time of the tasks be over. Half a millisecond in `delayed` marks those of groups. */
const makeDue = (part: string, score = 1, count = 100) =>
  billed.rescore(
    part,
    score,
    numbered(count).map(({ id }) => id),
  );

test("a dequeue of due tasks, one or a hundred, costs 5 more, and 1 more if it leaves some", async () => {
  const dequeued = async (max: number, due: number, ready = 0) => {
    await queue.enqueueMany(numbered(due, { delay: "1h" }));
    await queue.enqueueMany(numbered(ready, {}, "r"));
    await makeDue("delayed", 1, due);
    const tasks: string[] = [];
    const commands = await cost(async () => {
      tasks.push(...(await queue.dequeue({ max })).map(({ id }) => id));
    });
    expect(tasks).toHaveLength(Math.min(max, due + ready));
    await billed.client.flushall();
    return commands;
  };
  expect(await dequeued(1, 1)).toBe(6 + 5);
  expect(await dequeued(100, 100)).toBe(7 + 5);
  expect(await dequeued(100, 50, 50)).toBe(7 + 5);
  expect(await dequeued(1, 20)).toBe(6 + 5 + 1);
});

test("a settle of 1,000 costs 6 for each 240, and a copy of it 3", async () => {
  await queue.enqueueMany(numbered(1_000));
  const batch = await queue.dequeue({ max: 1_000 });
  const settlements = batch.map(({ receipt }) => ({ receipt, outcome: "complete" as const }));
  expect(await cost(() => queue.settle(settlements))).toBe(5 * 6);
  expect(await cost(() => queue.settle(settlements))).toBe(5 * 3);
});

describe("a sweep", () => {
  const swept = () => cost(() => sweep(billed.transport));

  test.each([
    [2, 4, "100 tasks", {}, 1],
    [6, 6, "100 tasks of a group", { group: "a" }, 1.5],
  ])("costs %i more to promote and %i to reclaim %s", async (promote, reclaim, _, options, due) => {
    await queue.enqueueMany(numbered(100, { delay: "1h", ...options }));
    await makeDue("delayed", due);
    expect(await swept()).toBe(IDLE_SWEEP + promote);
    await queue.dequeue({ max: 100 });
    await makeDue("working");
    expect(await swept()).toBe(IDLE_SWEEP + reclaim);
  });

  test.each<[string, EnqueueOptions, number]>([
    ["5 more for 100 expired records", {}, 5],
    ["6 more for 100 expired records whose ids are unique for longer", { unique: "24h" }, 6],
  ])("costs %s", async (_, options, more) => {
    await queue.enqueueMany(numbered(100, options));
    const batch = await queue.dequeue({ max: 100 });
    await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "complete" as const, result: 1 })));
    await makeDue("expiry");
    expect(await swept()).toBe(IDLE_SWEEP + more);
  });
});

describe("a deep sweep", () => {
  const deep = (name = queue.name) => cost(() => deepSweep(billed.transport, { queue: name }));

  test("costs 2 for a queue without keys, 15 for one that was used a little, 3 for the list of queues", async () => {
    // Of a queue by its name 1 more reads which partitions it has.
    expect(await deep("never-used")).toBe(2 + 1);
    expect(await deep()).toBe(15 + 1);
    expect(await cost(() => deepSweep(billed.transport))).toBe(15 + 3);
  });

  // The traces of many calls, such as slots of dequeues, are read in scans, whose pages are random.
  test.each([
    ["has had many calls", () => queue],
    ["has never had a task, but many calls", () => new Queue("noted", { transport: billed.transport })],
  ])("costs at most 20 for an idle queue that %s", async (_, used) => {
    const idle = used();
    const tokens = Array.from({ length: 600 }, () => crypto.randomUUID());
    await abreast(tokens, (token) => idle.dequeue({ token }));
    expect(await deep(idle.name)).toBeLessThanOrEqual(20);
  });

  test("costs at most 20 for a queue with a hundred tasks in many places, groups, limits, workers and settings", async () => {
    const { operator } = billed;
    await operator.configure({ statistics: true, maxWorking: 500, maxPending: 5_000 });
    await operator.configureGroup("capped", { maxWorking: 2 });
    const kinds = [{}, { group: "a" }, { group: "capped" }, { priority: 3 }, { delay: "1h" }] as const;
    const payload = "x".repeat(500);
    await queue.enqueueMany(numbered(100).map(({ id }, i) => ({ payload, id, ...kinds[i % 5] })));
    for (const id of ["t0", "t1", "t2", "t4"]) await queue.cancel(id);
    const held = await queue.dequeue({ max: 30, worker: { name: "w", silentAfter: "1h" } });
    for (const task of held.slice(0, 10)) await task.complete("done");
    await held[11]?.reject("no");
    expect(await deep()).toBeLessThanOrEqual(20);
  });

  test("of 200 queues with one task each costs at most 20 commands a queue, and 5 requests", async () => {
    const names = Array.from({ length: 200 }, (_, i) => `one-${i}`);
    await abreast(names, (name) => new Queue(name, { transport: billed.transport }).enqueue({ for: name }));
    billed.gateway.resetUsage();
    const queues = (name: string) => name.startsWith("one-");
    const report = { queues: 200, entries: 400, faults: [], failed: [], cursor: null };
    expect(await deepSweep(billed.transport, { queues })).toMatchObject(report);
    const { commands, requests } = billed.gateway.usage();
    expect(commands).toBeLessThanOrEqual(20 * 200);
    expect(requests).toBe(1 + 200 / 50);
  });

  test.each<[string, number, EnqueueOptions]>([
    ["that are pending or working", 90, {}],
    ["of a group", 110, { group: "a" }],
    ["that are delayed", 90, { delay: "1h" }],
  ])("of a queue with 100 tasks %s costs at most %i", async (_, most, options) => {
    await queue.enqueueMany(numbered(100, options));
    expect(await deep()).toBeLessThanOrEqual(most);
    await queue.dequeue({ max: 100 });
    expect(await deep()).toBeLessThanOrEqual(most);
  });

  test("costs at most 5 for each further hundred tasks, 15 in groups", async () => {
    await queue.enqueueMany(numbered(1_000));
    expect(await deep()).toBeLessThanOrEqual(90 + 9 * 5);
    await queue.enqueueMany(numbered(1_000, { group: "b" }, "b"));
    expect(await deep()).toBeLessThanOrEqual(110 + 9 * 5 + 10 * 15);
  });
});
