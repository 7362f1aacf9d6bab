import { beforeEach, describe, expect, test } from "vitest";
import {
  type EnqueueOptions,
  type GroupChanges,
  type Operator,
  Queue,
  type QueueChanges,
} from "../../src/index.ts";
import { useBilled } from "../support/billed.ts";
import { many, numbered } from "../support/new-tasks.ts";

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
