import { beforeEach, describe, expect, test } from "vitest";
import {
  countQueues,
  queueOverviews,
  type EnqueueOptions,
  type Operator,
  type Queue,
  type TaskState,
} from "../../../src/index.ts";
import type { Transport } from "../../../src/kernel/transport.ts";
import { useBilled } from "../../support/billed.ts";
import { many, numbered } from "../../support/new-tasks.ts";

// What it costs to operate a queue, and to follow a task; exact, as in commands.test.ts.

const billed = useBilled();
const { cost } = billed;
let queue: Queue;
let operator: Operator;
beforeEach(() => void ({ queue, operator } = billed));

/** Fills the queue with tasks `t0`, `t1`, … in that state. */
async function fill(state: TaskState, count: number, options: EnqueueOptions = {}) {
  const delay = state === "delayed" ? { delay: "1h" as const } : {};
  await queue.enqueueMany(numbered(count, { ...delay, ...options }));
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

  test("backwards, with previews, counted by cause or searched, 900 dead letters cost no more", async () => {
    await fill("rejected", 900);
    const state = "rejected";
    expect(await cost(() => operator.list({ state, reverse: true, payloads: "preview" }))).toBe(6);
    expect(await cost(() => operator.deadLetters())).toBe(12);
    expect(await cost(() => operator.search({ text: "timeout", of: state }))).toBe(12);
  });

  test("statistics cost 3, also those of a day", async () => {
    await operator.configure({ statistics: true });
    await fill("rejected", 10);
    expect(await cost(() => operator.statistics())).toBe(3);
    expect(await cost(() => operator.statistics({ history: true }))).toBe(3);
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

  test("a task costs 3, an ended or unknown one 2; a wait or watch reads an ended one once", async () => {
    await queue.enqueue(1, { id: "a" });
    expect(await cost(() => queue.wait("a", { for: 0 }))).toBe(3);
    const [task] = await queue.dequeue();
    expect(await cost(() => queue.get("a"))).toBe(3);
    expect(await cost(() => queue.wait("a", { for: 0 }))).toBe(3);
    await task?.complete("done");
    expect(await cost(() => queue.get("a"))).toBe(2);
    expect(await cost(() => queue.get("unknown"))).toBe(2);
    expect(await cost(() => queue.wait("a"))).toBe(2);
    const reported = async () => {
      for await (const event of queue.watch("a")) expect(event.event).toBe("end");
    };
    expect(await cost(reported)).toBe(2);
  });

  test("listening to a queue's events costs 1, for any number of events", async () => {
    await operator.configure({ events: true });
    const leaving = new AbortController();
    let events: AsyncIterator<unknown> | undefined;
    const listen = async () => {
      events = (await queue.events({ signal: leaving.signal, warn: false }))[Symbol.asyncIterator]();
    };
    expect(await cost(listen)).toBe(1);
    for (const id of ["a", "b"]) await queue.enqueue(1, { id });
    expect(await cost(async () => [await events?.next(), await events?.next()])).toBe(0);
    leaving.abort();
  });

  test("the counts costs 4 without tasks, 10 with dead letters alone, 11 if tasks wait, 14 with all features, 3 more if the next are cancelled", async () => {
    const counts = () => cost(() => queue.counts());
    expect(await counts()).toBe(4);
    await fill("rejected", 1);
    expect(await counts()).toBe(10);
    await operator.remove("t0");
    await fill("pending", 12);
    expect(await counts()).toBe(11);
    await queue.enqueue(1, { group: "a" });
    await queue.enqueue(1, { delay: "1h" });
    expect(await counts()).toBe(13);
    await queue.dequeue({ max: 1 });
    expect(await counts()).toBe(14);
    for (let i = 0; i < 11; i++) await queue.cancel(`t${i}`);
    expect(await counts()).toBe(14 + 3);
  });

  test("countQueues costs the counts of its queues, in one request; queueOverviews the same", async () => {
    await fill("pending", 12);
    await operator.configure({ statistics: true, maxWorking: 10 });
    let requests = 0;
    const { send } = billed.transport;
    const counting: Transport = { send: (...args) => (requests++, send(...args)) };
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
    await queue.enqueueMany(many(201, { group: "large" }));
    expect(await groups()).toBe(4 + 1 + 1);
    await operator.deleteQueue({ force: true });
    await queue.enqueueMany(many(201).map((task, i) => ({ ...task, group: `g${i % 3}` })));
    expect(await groups()).toBe(4 + 1);
  });
});

test("cancelling a task costs 4 while it is working, 3 the second time, 2 if it has ended or is unknown; 1 more with events on", async () => {
  const cancelled = (id: string) => cost(() => queue.cancel(id));
  await fill("working", 2);
  expect(await cancelled("t0")).toBe(4);
  expect(await cancelled("t0")).toBe(3);
  await queue.enqueueMany([
    { payload: 1, id: "ended" },
    { payload: 1, id: "delayed", delay: "1h" },
  ]);
  await (await queue.dequeue())[0]?.complete();
  expect(await cancelled("ended")).toBe(2);
  expect(await cancelled("unknown")).toBe(2);
  await operator.configure({ events: true });
  await queue.enqueue(1, { id: "pending" });
  expect(await cancelled("pending")).toBe(6 + 1);
  expect(await cancelled("delayed")).toBe(7 + 1);
  expect(await cancelled("t1")).toBe(4 + 1);
});

test.each<[TaskState, number]>([
  ["completed", 6],
  ["rejected", 6],
  ["working", 2],
])("removing the record of a task that is %s costs %i, 2 if it is unknown", async (state, commands) => {
  await fill(state, 1);
  expect(await cost(() => operator.remove("t0"))).toBe(commands);
  expect(await cost(() => operator.remove("t0"))).toBe(2);
  expect(await cost(() => operator.remove("unknown"))).toBe(2);
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

test.each<[Exclude<TaskState, "working">, object, number]>([
  ["pending", {}, 9],
  ["delayed", {}, 11],
  ["completed", {}, 11],
  ["rejected", {}, 11],
  ["pending", { group: "a" }, 18],
])("purging 100 tasks that are %s %j costs %i", async (state, group, commands) => {
  // Each has a kept result: nothing of an earlier task is to be purged.
  await operator.deleteQueue();
  await fill(state, 100, group);
  expect(await cost(() => operator.purge({ state, ...group }))).toBe(commands);
});

test("deleting a queue costs 10, 9 if forced, 1 more with events on; 6 if refused while tasks are working", async () => {
  await fill("pending", 100);
  await queue.dequeue();
  expect(await cost(() => operator.deleteQueue())).toBe(6);
  expect(await cost(() => operator.deleteQueue({ force: true }))).toBe(9);
  await fill("pending", 1);
  expect(await cost(() => operator.deleteQueue())).toBe(10);
  await operator.configure({ events: true });
  expect(await cost(() => operator.deleteQueue())).toBe(10 + 1);
});

test("setting a queue, pausing or resuming it costs 6, and 3 more if it registers the queue; 4 without settings, 5 without a change; 2 to read settings, 3 an hour's statistics", async () => {
  expect(await cost(() => operator.configure({}))).toBe(4);
  expect(await cost(() => operator.configure({ maxWorking: null }))).toBe(5);
  expect(await cost(() => operator.pause())).toBe(6);
  expect(await cost(() => operator.resume())).toBe(6);
  expect(await cost(() => operator.configure({ rate: { most: 5, per: "1s" }, statistics: true }))).toBe(6);
  expect(await cost(() => operator.settings())).toBe(2);
  expect(await cost(() => operator.statistics())).toBe(3);
  await operator.deleteQueue();
  expect(await cost(() => operator.configure({ maxWorking: 5 }))).toBe(6 + 3);
});

test("setting a group costs 7; 4 more if it admits held tasks, 5 if its last setting is removed", async () => {
  expect(await cost(() => operator.configureGroup("a", { maxWorking: 1 }))).toBe(7);
  await queue.enqueueMany(many(50, { group: "a" }));
  expect(await cost(() => operator.configureGroup("a", { maxWorking: 40 }))).toBe(7 + 4);
  expect(await cost(() => operator.configureGroup("a", { maxWorking: null }))).toBe(7 + 5);
  expect(await cost(() => operator.groupSettings("a"))).toBe(2);
});

test("handing back unstarted tasks costs 6, for one or a hundred; 8 for a group", async () => {
  await queue.enqueueMany(many(100));
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
