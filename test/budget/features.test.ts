import { describe, expect, test } from "vitest";
import type { EnqueueOptions, GroupChanges, QueueChanges } from "../../src/index.ts";
import { useBilled } from "../support/billed.ts";
import { many, numbered } from "../support/new-tasks.ts";

// What each feature costs, in commands as Upstash bills them, for docs/costs.md. Calls without any of
// them cost as much as in commands.test.ts.

const billed = useBilled(async ({ queue, operator }) => {
  const work = async () => {
    await queue.enqueue("warm");
    await (await queue.dequeue())[0]?.complete();
    await queue.cancel("unknown");
  };
  await work();
  await operator.pause();
  await operator.resume();
  await operator.settings();
  await operator.statistics();
  await operator.deleteQueue();
  await work();
});
const { cost } = billed;

/** The cost of a single task, of a hundred in three requests, and of a dequeue of an empty queue. */
async function prices(options: EnqueueOptions) {
  const { queue } = billed;
  let batch = await queue.dequeue();
  const lone = {
    enqueue: await cost(() => queue.enqueue(1, options)),
    dequeue: await cost(async () => (batch = await queue.dequeue())),
    complete: await cost(async () => batch[0]?.complete()),
  };
  const hundred = [
    await cost(() => queue.enqueueMany(many(100, options))),
    await cost(async () => (batch = await queue.dequeue({ max: 100 }))),
    await cost(() => queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "complete" })))),
  ];
  await queue.dequeue();
  return { ...lone, hundred, poll: await cost(() => queue.dequeue()) };
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
    await billed.operator.configure(changes);
    expect(await prices({})).toEqual({ ...nothing, ...more });
  });

  test("and nothing after it is unset", async () => {
    await billed.operator.configure({ maxPending: 999, maxWorking: 999 });
    expect(await prices({})).not.toEqual(nothing);
    await billed.operator.configure({ maxPending: null, maxWorking: null });
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
    await billed.operator.configureGroup("a", changes);
    expect(await prices(options)).toEqual({ ...nothing, ...more });
  });
});

test("to cancel a task of a group costs 11, 2 more if others move up; moving up the next 200 costs 3", async () => {
  const { queue } = billed;
  const ids = (await queue.enqueueMany(many(600, { group: "a" }))).map(({ id }) => id);
  expect(await cost(() => queue.cancel(ids[599] ?? ""))).toBe(11);
  expect(await cost(() => queue.cancel(ids[0] ?? ""))).toBe(11 + 2);
  expect(await cost(() => queue.dequeue({ max: 100 }))).toBe(13);
  expect(await cost(() => queue.dequeue({ max: 100 }))).toBe(13 + 3);
});

describe("a refused call", () => {
  test("costs 4 if the queue is paused", async () => {
    await billed.queue.enqueueMany(many(3));
    await billed.operator.pause();
    expect(await cost(() => billed.queue.dequeue())).toBe(4);
  });

  test("costs 8 at maxWorking; at a rate 5, or 7 if so few tasks wait that it looks for due ones", async () => {
    const { queue, operator } = billed;
    await queue.enqueueMany(many(5));
    await operator.configure({ maxWorking: 1 });
    await queue.dequeue();
    expect(await cost(() => queue.dequeue())).toBe(8);
    await operator.configure({ maxWorking: null, rate: { most: 1, per: "1h" } });
    await queue.dequeue();
    expect(await cost(() => queue.dequeue())).toBe(5);
    expect(await cost(() => queue.dequeue({ max: 10 }))).toBe(7);
  });

  test("costs 6 at maxPending, alone or as a batch", async () => {
    const { queue, operator } = billed;
    await queue.enqueueMany(many(3));
    await operator.configure({ maxPending: 3 });
    const refused = (run: () => Promise<unknown>) =>
      cost(() => expect(run()).rejects.toMatchObject({ code: "queue_full" }));
    expect(await refused(() => queue.enqueue(1))).toBe(6);
    expect(await refused(() => queue.enqueueMany(many(100)))).toBe(6);
  });
});

describe("operating a queue", () => {
  test("costs 6 to pause, resume or set; 2 to read settings, 3 to read an hour's statistics", async () => {
    const { operator } = billed;
    expect(await cost(() => operator.pause())).toBe(6);
    expect(await cost(() => operator.resume())).toBe(6);
    expect(await cost(() => operator.configure({ rate: { most: 5, per: "1s" }, statistics: true }))).toBe(6);
    expect(await cost(() => operator.settings())).toBe(2);
    expect(await cost(() => operator.statistics())).toBe(3);
  });

  test("costs 7 to set a group; 4 more if it admits held tasks, 5 if its last setting is removed", async () => {
    const { queue, operator } = billed;
    expect(await cost(() => operator.configureGroup("a", { maxWorking: 1 }))).toBe(7);
    await queue.enqueueMany(many(50, { group: "a" }));
    expect(await cost(() => operator.configureGroup("a", { maxWorking: 40 }))).toBe(7 + 4);
    expect(await cost(() => operator.configureGroup("a", { maxWorking: null }))).toBe(7 + 5);
    expect(await cost(() => operator.groupSettings("a"))).toBe(2);
  });

  test("costs 9 to delete a queue, 6 if refused while tasks are working", async () => {
    const { queue, operator } = billed;
    await queue.enqueueMany(many(100));
    await queue.dequeue();
    expect(await cost(() => operator.deleteQueue())).toBe(6);
    expect(await cost(() => operator.deleteQueue({ force: true }))).toBe(9);
  });
});

describe("a unique id or key", () => {
  test("costs 2 more with a dedup key, 1 more with `again`, 5 more if a task begins again", async () => {
    const { queue } = billed;
    const dedup = { key: "k", window: "1h" } as const;
    expect(await cost(() => queue.enqueue(1, { dedup }))).toBe(4 + 2);
    expect(await cost(() => queue.enqueue(1, { dedup }))).toBe(3);
    expect(await cost(() => queue.enqueue(1, { id: "a", again: true }))).toBe(4 + 1);
    await queue.settle(
      (await queue.dequeue({ max: 10 })).map(({ receipt }) => ({ receipt, outcome: "complete" as const })),
    );
    expect(await cost(() => queue.enqueue(1, { id: "a", again: true }))).toBe(4 + 5);
  });

  test("costs nothing more with `unique`, alone or in batches of a hundred", async () => {
    const { queue } = billed;
    let batch = await queue.dequeue();
    const alone = [
      await cost(() => queue.enqueue(1, { id: "a", unique: "24h" })),
      await cost(async () => (batch = await queue.dequeue())),
      await cost(async () => batch[0]?.complete("result")),
    ];
    const hundred = [
      await cost(() => queue.enqueueMany(numbered(100, { unique: "24h" }))),
      await cost(async () => (batch = await queue.dequeue({ max: 100 }))),
      await cost(() => queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "complete" })))),
    ];
    expect({ alone, hundred }).toEqual({ alone: [4, 6, 6], hundred: nothing.hundred });
  });
});
