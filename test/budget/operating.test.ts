import { beforeEach, describe, expect, test } from "vitest";
import {
  countQueues,
  queueOverviews,
  type NewTask,
  type Operator,
  type Queue,
  type TaskState,
} from "../../src/index.ts";
import type { Transport } from "../../src/queue/redis/transport.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { useBilled } from "../support/billed.ts";

// What it costs to operate a queue, beyond features.test.ts and workers.test.ts; exact, as there.

const billed = useBilled(async ({ queue, operator }) => {
  await queue.enqueueMany([{ payload: 1, id: "warm" }, { payload: 2 }]);
  const [first, second] = await queue.dequeue({ max: 2, worker });
  await first?.reject();
  await queue.cancel("warm");
  await queue.get("warm");
  await queue.counts();
  await queue.heartbeat(worker);
  await operator.list({ state: "rejected" });
  await operator.redrive({ ids: ["warm"] });
  await operator.remove("warm");
  await operator.purge({ state: "pending" });
  await second?.complete();
  await operator.configure({ events: true });
  await operator.workers();
  await operator.groups();
  await operator.failWorker(worker);
  await operator.deleteQueue();
  await queue.enqueue(1, { resultTtl: 0 });
  await (await queue.dequeue())[0]?.complete();
});
const { cost } = billed;
const worker = { name: "one", incarnation: "a", silentAfter: "1h" } as const;
let queue: Queue;
let operator: Operator;
beforeEach(() => {
  ({ queue, operator } = billed);
});

/** Fills the queue with tasks `t0`, `t1`, … in that state. */
async function fill(state: TaskState, count: number, options: Partial<NewTask<unknown>> = {}) {
  const delay = state === "delayed" ? { delay: "1h" as const } : {};
  const tasks = Array.from({ length: count }, (_, i) => ({ payload: i, id: `t${i}`, ...delay, ...options }));
  await queue.enqueueMany(tasks);
  if (state === "pending" || state === "delayed") return;
  const batch = await queue.dequeue({ max: count });
  if (state === "working") return;
  const outcome = state === "completed" ? "complete" : "reject";
  await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome })));
}

describe("reading", () => {
  test.each<[TaskState, none: number, one: number, hundred: number]>([
    ["pending", 3, 4, 5],
    ["delayed", 4, 5, 6],
    ["working", 4, 5, 6],
    // Also without one: the id of the last completed task stays known for five minutes.
    ["completed", 5, 5, 6],
    ["rejected", 4, 5, 6],
  ])("a page of %s tasks costs %i if there are none, %i for one, %i for 100", async (state, ...costs) => {
    const list = () => cost(() => operator.list({ state }));
    const seen = [await list()];
    for (const count of [1, 100]) {
      await operator.deleteQueue({ force: true });
      await fill(state, count);
      seen.push(await list());
    }
    expect(seen).toEqual(costs);
  });

  test("a page costs no more with a filter or with payloads, and 13 with a thousand tasks", async () => {
    await fill("rejected", 1_000);
    const state = "rejected";
    expect(await cost(() => operator.list({ state, text: "timeout", reason: "rejected" }))).toBe(13);
    expect(await cost(() => operator.list({ state, payloads: true }))).toBe(6);
    expect(await cost(() => operator.list({ state, size: 1_000 }))).toBe(13);
  });

  test("the next tasks costs 4; pending tasks of groups 7, 10 if these are all, and 11 for a page of 100", async () => {
    await fill("pending", 5);
    expect(await cost(() => operator.peek())).toBe(4);
    await operator.deleteQueue();
    await fill("pending", 5, { group: "a" });
    expect(await cost(() => operator.peek())).toBe(10);
    await operator.deleteQueue();
    await fill("pending", 100, { group: "a" });
    expect(await cost(() => operator.peek())).toBe(7);
    expect(await cost(() => operator.list({ state: "pending" }))).toBe(11);
  });

  test("a task costs 3, an ended or unknown one 2", async () => {
    await fill("working", 1);
    expect(await cost(() => queue.get("t0"))).toBe(3);
    await queue.enqueue(1, { id: "ended" });
    await (await queue.dequeue())[0]?.complete("done");
    expect(await cost(() => queue.get("ended"))).toBe(2);
    expect(await cost(() => queue.get("unknown"))).toBe(2);
  });

  test("the counts costs 4 without tasks, 10 with dead letters alone, 11 if tasks wait, 14 with all features, 3 more if the next are cancelled", async () => {
    const counts = () => cost(() => queue.counts());
    expect(await counts()).toBe(4);
    await queue.enqueue(1, { id: "dead" });
    await (await queue.dequeue())[0]?.reject("no");
    expect(await counts()).toBe(10);
    await operator.remove("dead");
    await fill("pending", 12);
    expect(await counts()).toBe(11);
    await queue.enqueueMany([
      { payload: 1, id: "a", group: "a" },
      { payload: 1, delay: "1h" },
    ]);
    expect(await counts()).toBe(13);
    await queue.dequeue({ max: 1 });
    expect(await counts()).toBe(14);
    for (let i = 0; i < 11; i++) await queue.cancel(`t${i}`);
    expect(await counts()).toBe(14 + 3);
  });

  test("countQueues costs the counts of its queues, in one request; queueOverviews the same", async () => {
    await fill("pending", 12);
    await operator.configure({ statistics: true, maxWorking: 10 });
    const { url, token } = billed.gateway;
    const transport = upstash({ url, token });
    let requests = 0;
    const counting: Transport = { send: (...args) => (requests++, transport.send(...args)) };
    const names = [queue.name, "none", "none-either"];
    for (const read of [countQueues, queueOverviews]) {
      requests = 0;
      expect(await cost(() => read(counting, names))).toBe(11 + 4 + 4);
      expect(requests).toBe(1);
    }
  });

  test("the groups with waiting tasks costs 3 if there are none, 4 for fifty, at most 1 more for each further 200 tasks", async () => {
    const groups = () => cost(() => operator.groups());
    expect(await groups()).toBe(3);
    await queue.enqueueMany(Array.from({ length: 50 }, (_, i) => ({ payload: 1, group: `g${i}` })));
    expect(await groups()).toBe(4);
    await operator.configureGroup("held", { maxWorking: 1 });
    await operator.purge({ state: "pending" });
    await fill("pending", 3, { group: "held" });
    await queue.dequeue();
    expect(await groups()).toBe(4 + 1);
    await queue.enqueueMany(Array.from({ length: 201 }, () => ({ payload: 1, group: "large" })));
    expect(await groups()).toBe(4 + 1 + 1);
    await operator.deleteQueue({ force: true });
    await queue.enqueueMany(Array.from({ length: 201 }, (_, i) => ({ payload: 1, group: `g${i % 3}` })));
    expect(await groups()).toBe(4 + 1);
  });

  test("the workers of a queue without workers costs 3", async () => {
    expect(await cost(() => operator.workers())).toBe(3);
  });
});

describe("cancelling a task", () => {
  test("costs 4 while it is working, 3 the second time, 2 if it has ended or is unknown", async () => {
    await fill("working", 1);
    expect(await cost(() => queue.cancel("t0"))).toBe(4);
    expect(await cost(() => queue.cancel("t0"))).toBe(3);
    await queue.enqueue(1, { id: "ended" });
    await (await queue.dequeue())[0]?.complete();
    expect(await cost(() => queue.cancel("ended"))).toBe(2);
    expect(await cost(() => queue.cancel("unknown"))).toBe(2);
  });

  test("costs 1 more with events on, also while it is working", async () => {
    await fill("working", 1);
    await operator.configure({ events: true });
    await queue.enqueueMany([
      { payload: 1, id: "pending" },
      { payload: 1, id: "delayed", delay: "1h" },
    ]);
    expect(await cost(() => queue.cancel("pending"))).toBe(6 + 1);
    expect(await cost(() => queue.cancel("delayed"))).toBe(7 + 1);
    expect(await cost(() => queue.cancel("t0"))).toBe(4 + 1);
  });
});

describe("removing a task's record", () => {
  test.each(["completed", "rejected"] as const)("costs 6 if it is %s, 2 the second time", async (state) => {
    await fill(state, 1);
    expect(await cost(() => operator.remove("t0"))).toBe(6);
    expect(await cost(() => operator.remove("t0"))).toBe(2);
  });

  test("costs 2 if it has not ended or is unknown", async () => {
    await fill("working", 1);
    expect(await cost(() => operator.remove("t0"))).toBe(2);
    expect(await cost(() => operator.remove("unknown"))).toBe(2);
  });
});

describe("redriving", () => {
  test("by id costs 8 for one task or ten; 3 if refused, or as a dry run", async () => {
    await fill("rejected", 20);
    expect(await cost(() => operator.redrive({ ids: ["t0"], dryRun: true }))).toBe(3);
    expect(await cost(() => operator.redrive({ ids: ["t0"] }))).toBe(8);
    const ids = Array.from({ length: 10 }, (_, i) => `t${i + 1}`);
    expect(await cost(() => operator.redrive({ ids }))).toBe(8);
    expect(await cost(() => operator.redrive({ ids: ["unknown"] }))).toBe(3);
  });

  test("all of 100 costs 12, 13 with a rate; 7 as a dry run, 5 if there are none", async () => {
    expect(await cost(() => operator.redrive())).toBe(5);
    await fill("rejected", 100);
    expect(await cost(() => operator.redrive({ reason: "rejected", dryRun: true }))).toBe(7);
    expect(await cost(() => operator.redrive({ reason: "rejected" }))).toBe(12);
    const again = await queue.dequeue({ max: 100 });
    await queue.settle(again.map(({ receipt }) => ({ receipt, outcome: "reject" as const })));
    expect(await cost(() => operator.redrive({ reason: "rejected", rate: 10 }))).toBe(13);
  });
});

describe("purging 100 tasks", () => {
  test.each<[Exclude<TaskState, "working">, number]>([
    ["pending", 9],
    ["delayed", 11],
    ["completed", 11],
    ["rejected", 11],
  ])("that are %s costs %i", async (state, commands) => {
    // Each has a kept result: nothing of the warm-up task is to be purged.
    await operator.deleteQueue();
    await fill(state, 100);
    expect(await cost(() => operator.purge({ state }))).toBe(commands);
  });

  test("costs 18 if they wait in a group", async () => {
    await fill("pending", 100, { group: "a" });
    expect(await cost(() => operator.purge({ state: "pending", group: "a" }))).toBe(18);
  });
});

test("failing a worker by its name costs 4 if there is none, 6 without tasks, 13 with a hundred", async () => {
  expect(await cost(() => operator.failWorker("one"))).toBe(4);
  await queue.dequeue({ worker });
  expect(await cost(() => operator.failWorker("one"))).toBe(6);
  await fill("pending", 100);
  await queue.dequeue({ max: 100, worker });
  expect(await cost(() => operator.failWorker("one"))).toBe(13);
});

test("deleting a queue costs 10, and 1 more with events on", async () => {
  await fill("pending", 100);
  expect(await cost(() => operator.deleteQueue())).toBe(10);
  await queue.enqueue(1);
  await operator.configure({ events: true });
  expect(await cost(() => operator.deleteQueue())).toBe(10 + 1);
});

test("setting a queue costs 3 more if it registers the queue; 4 without settings, 5 without a change", async () => {
  expect(await cost(() => operator.configure({}))).toBe(4);
  expect(await cost(() => operator.configure({ maxWorking: null }))).toBe(5);
  await operator.deleteQueue();
  expect(await cost(() => operator.configure({ maxWorking: 5 }))).toBe(6 + 3);
});

test("handing back unstarted tasks costs 6, for one or a hundred; 8 for a group", async () => {
  await queue.enqueueMany(Array.from({ length: 100 }, (_, i) => ({ payload: i })));
  const unstarted = { outcome: "requeue", unstarted: true } as const;
  for (const max of [1, 100]) {
    const batch = await queue.dequeue({ max });
    expect(await cost(() => queue.settle(batch.map(({ receipt }) => ({ receipt, ...unstarted }))))).toBe(6);
  }
  await operator.purge({ state: "pending" });
  await queue.enqueue(1, { group: "a" });
  const [task] = await queue.dequeue();
  expect(await cost(async () => task?.requeue({ unstarted: true }))).toBe(8);
});
