import { beforeEach, describe, expect, test } from "vitest";
import {
  type EnqueueOptions,
  type GroupChanges,
  type LeasedTask,
  type Operator,
  Queue,
  type QueueChanges,
} from "../../../src/index.ts";
import { useBilled } from "../../support/billed.ts";
import { many, numbered } from "../../support/new-tasks.ts";

// What each feature costs, in commands as Upstash bills them, for docs/costs.md. Calls without any of
// them cost as much as in commands.test.ts.

const billed = useBilled();
const { cost } = billed;
let queue: Queue;
let operator: Operator;
beforeEach(() => void ({ queue, operator } = billed));

/** The cost of a single task, of a hundred in three requests, and of a dequeue of an empty queue. */
async function prices(options: EnqueueOptions, tasks = many) {
  // At one instant, because the first call of a minute costs more with statistics. That saves the command TIME, which
  // only a dequeue that finds nothing does not call.
  const now = Date.now();
  const timed = new Queue(queue.name, { transport: billed.transport, now: () => now });
  const price = async (run: () => Promise<unknown>) => 1 + (await cost(run));
  let batch = await timed.dequeue();
  const [one = { payload: 0 }] = tasks(1, options);
  const { payload, ...single } = one;
  const lone = {
    enqueue: await price(() => timed.enqueue(payload, single)),
    dequeue: await price(async () => (batch = await timed.dequeue())),
    complete: await price(async () => batch[0]?.complete("result")),
  };
  const hundred = [
    await price(() => timed.enqueueMany(tasks(101, options).slice(1))),
    await price(async () => (batch = await timed.dequeue({ max: 100 }))),
    await price(() => timed.settle(batch.map(({ receipt }) => ({ receipt, outcome: "complete" })))),
  ];
  await timed.dequeue();
  return { ...lone, hundred, poll: await cost(() => timed.dequeue()) };
}

const nothing = { enqueue: 4, dequeue: 6, complete: 6, hundred: [5, 7, 6], poll: 5 };

describe("a setting of the queue costs its calls", () => {
  test.each<[string, QueueChanges, object]>([
    ["nothing, if there is none", {}, {}],
    ["statistics: 1 for a single enqueue", { statistics: true }, { enqueue: 5 }],
    [
      "events: 1 for each kind and call, and 1 for a single enqueue",
      { events: true },
      { enqueue: 6, dequeue: 7, complete: 7, hundred: [6, 8, 7] },
    ],
    [
      "events and statistics: no more than events",
      { events: true, statistics: true },
      { enqueue: 6, dequeue: 7, complete: 7, hundred: [6, 8, 7] },
    ],
    [
      "maxPending: 3 for an enqueue, and 1 for a single one",
      { maxPending: 999 },
      { enqueue: 8, hundred: [8, 7, 6] },
    ],
    ["maxWorking: 1 for a dequeue", { maxWorking: 999 }, { dequeue: 7, hundred: [5, 8, 6] }],
    ["rate: nothing", { rate: { most: 999, per: "1h" } }, {}],
  ])("%s", async (_, changes, more) => {
    await operator.configure(changes);
    expect(await prices({})).toEqual({ ...nothing, ...more });
  });

  test("and nothing after it is unset", async () => {
    await operator.configure({ maxPending: 999, maxWorking: 999 });
    expect(await prices({})).not.toEqual(nothing);
    await operator.configure({ maxPending: null, maxWorking: null });
    expect(await prices({})).toEqual(nothing);
  });
});

describe("groups and priorities cost the calls of their tasks", () => {
  const grouped = { enqueue: 7, dequeue: 13, complete: 8, hundred: [7, 13, 8] };
  test.each<[string, EnqueueOptions, GroupChanges, object]>([
    ["3 to enqueue, 7 to dequeue, 2 to complete", { group: "a" }, {}, grouped],
    ["the same with a priority", { priority: 5 }, {}, grouped],
    ["the same with a weight and a maxWorking", { group: "a" }, { weight: 3, maxWorking: 999 }, grouped],
    [
      "1 less to complete with a rate, whose count is kept",
      { group: "a" },
      { rate: { most: 999, per: "1h" } },
      { ...grouped, complete: 7, hundred: [7, 13, 7] },
    ],
  ])("%s", async (_, options, changes, more) => {
    await operator.configureGroup("a", changes);
    expect(await prices(options)).toEqual({ ...nothing, ...more });
  });

  test("to cancel a task of a group costs 11, 2 more if others move up; moving up the next 200 costs 3", async () => {
    await queue.enqueueMany(numbered(600, { group: "a" }));
    expect(await cost(() => queue.cancel("t599"))).toBe(11);
    expect(await cost(() => queue.cancel("t0"))).toBe(11 + 2);
    expect(await cost(() => queue.dequeue({ max: 100 }))).toBe(13);
    expect(await cost(() => queue.dequeue({ max: 100 }))).toBe(13 + 3);
  });
});

test("a dequeue costs 5 while a pause for a time lasts, and as much as before once one has found it over", async () => {
  await queue.enqueueMany(many(5));
  const plain = await cost(() => queue.dequeue());
  await operator.pause({ for: "1h" });
  expect(await cost(() => queue.dequeue())).toBe(5);
  await operator.resume();
  await operator.pause({ for: 1 });
  while ((await operator.settings()).paused);
  expect(await cost(() => queue.dequeue())).toBeGreaterThan(plain);
  expect(await cost(() => queue.dequeue())).toBe(plain);
});

test("a requeue that pauses the queue costs 4 more", async () => {
  await queue.enqueueMany(many(2));
  const [one, other] = await queue.dequeue({ max: 2 });
  const requeued = await cost(async () => one?.requeue({ delay: "1h" }));
  expect(await cost(async () => other?.requeue({ delay: "1h", queue: true }))).toBe(requeued + 4);
});

test("a refused call costs 4 if the queue is paused, 8 at maxWorking, 6 at maxPending; at a rate 5, or 7 if so few tasks wait that it looks for due ones", async () => {
  await queue.enqueueMany(many(5));
  await operator.pause();
  expect(await cost(() => queue.dequeue())).toBe(4);
  await operator.resume();
  await operator.configure({ maxPending: 5, maxWorking: 1 });
  const refused = (run: () => Promise<unknown>) =>
    cost(() => expect(run()).rejects.toMatchObject({ code: "queue_full" }));
  expect(await refused(() => queue.enqueue(1))).toBe(6);
  expect(await refused(() => queue.enqueueMany(many(100)))).toBe(6);
  await queue.dequeue();
  expect(await cost(() => queue.dequeue())).toBe(8);
  await operator.configure({ maxWorking: null, rate: { most: 1, per: "1h" } });
  await queue.dequeue();
  expect(await cost(() => queue.dequeue())).toBe(5);
  expect(await cost(() => queue.dequeue({ max: 10 }))).toBe(7);
});

describe("a unique id or key", () => {
  test("costs 2 more with a dedup key, 1 more with `again`, 5 more if a task begins again", async () => {
    const dedup = { key: "k", window: "1h" } as const;
    expect(await cost(() => queue.enqueue(1, { dedup }))).toBe(4 + 2);
    expect(await cost(() => queue.enqueue(1, { dedup }))).toBe(3);
    expect(await cost(() => queue.enqueue(1, { id: "a", again: true }))).toBe(4 + 1);
    for (const task of await queue.dequeue({ max: 10 })) await task.complete();
    expect(await cost(() => queue.enqueue(1, { id: "a", again: true }))).toBe(4 + 5);
  });

  test("costs nothing more with `unique`, alone or in batches of a hundred", async () => {
    expect(await prices({ unique: "24h" }, numbered)).toEqual(nothing);
  });
});

// A limit of a group costs nothing until it is reached.

/** Enqueues tasks `t0`, `t1`, … of the group `a`. */
const add = (count: number) => queue.enqueueMany(numbered(count, { group: "a" }));

/** Runs a dequeue, and returns its cost and its tasks. */
async function dequeued(max: number): Promise<{ commands: number; tasks: readonly LeasedTask[] }> {
  let tasks: readonly LeasedTask[] = [];
  const commands = await cost(async () => (tasks = [...(await queue.dequeue({ max }))]));
  return { commands, tasks };
}

const complete = (tasks: readonly LeasedTask[]) =>
  cost(() => queue.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" as const }))));

describe("a group at its maxWorking", () => {
  test("costs 1 less to enqueue, nothing more to dequeue, 3 more to complete one or 50 tasks that admit others", async () => {
    await operator.configureGroup("a", { maxWorking: 1 });
    expect(await cost(() => queue.enqueue(1, { group: "a" }))).toBe(7);
    expect(await cost(() => queue.enqueue(1, { group: "a" }))).toBe(7 - 1);
    expect(await cost(() => add(100))).toBe(7 - 1);
    const one = await dequeued(10);
    expect([one.commands, one.tasks.length]).toEqual([13, 1]);
    expect(await complete(one.tasks)).toBe(8 + 3);
    await operator.configureGroup("a", { maxWorking: 50 });
    const fifty = await dequeued(100);
    expect([fifty.commands, fifty.tasks.length]).toEqual([13, 50]);
    expect(await complete(fifty.tasks)).toBe(8 + 3);
  });

  test("costs 9 to dequeue if all waiting tasks are held, in any number; 6 more to dequeue a plain task beside them", async () => {
    await operator.configureGroup("a", { maxWorking: 1 });
    await queue.enqueueMany(many(2, { group: "a" }));
    await queue.dequeue();
    expect(await dequeued(1)).toEqual({ commands: 9, tasks: [] });
    await queue.enqueueMany(many(100, { group: "a" }));
    expect(await dequeued(100)).toEqual({ commands: 9, tasks: [] });
    await queue.enqueueMany(many(2));
    expect((await dequeued(1)).commands).toBe(6 + 6);
  });

  test("costs 10 to cancel a held task, 16 to cancel one that admits another", async () => {
    await operator.configureGroup("a", { maxWorking: 10 });
    await add(100);
    expect(await cost(() => queue.cancel("t90"))).toBe(10);
    expect(await cost(() => queue.cancel("t0"))).toBe(16);
  });

  test("costs about 14, once, for each hundred waiting tasks if it is set over a backlog", async () => {
    await add(1_000);
    await operator.configureGroup("a", { maxWorking: 1 });
    expect((await dequeued(1)).commands).toBe(13);
    expect(await dequeued(1)).toEqual({ commands: 9 + 140, tasks: [] });
    expect(await dequeued(1)).toEqual({ commands: 9, tasks: [] });
  });
});

test("a group at its rate costs 1 more to dequeue, 2 if it sets a timer; 1 more to complete, and to be set; 9 to find nothing", async () => {
  await operator.configureGroup("a", { rate: { most: 2, per: "1h" } });
  await add(10);
  const [first, second] = [await dequeued(1), await dequeued(1)];
  expect([first.commands, second.commands]).toEqual([13 + 2, 13 + 1]);
  expect(await complete(first.tasks)).toBe(7 + 1);
  expect(await dequeued(1)).toEqual({ commands: 9, tasks: [] });
  expect(await cost(() => queue.enqueue(1, { group: "a" }))).toBe(7);
  expect(await cost(() => operator.configureGroup("a", { weight: 5 }))).toBe(7 + 1);
});
