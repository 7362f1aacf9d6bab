import { beforeEach, describe, expect, test } from "vitest";
import type { EnqueueOptions, Queue } from "../../../src/index.ts";
import { deepTools } from "../../support/deep.ts";
import { ghostsOf } from "../../support/key-space.ts";
import { START, useRig } from "../../support/rig.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));
const { found } = deepTools(rig);

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Sweeps until nothing is left to do, at a time since the start. */
async function sweptAt(since: number): Promise<void> {
  rig.now = START + since;
  while (((await rig.sweepOnce()) as unknown[])[5] === 1);
}

/** Whether an enqueue of the id at a time since the start, and after a sweep, creates a task. */
async function createdAt(since: number, id = "welcome-17", options: EnqueueOptions = {}): Promise<boolean> {
  await sweptAt(since);
  return (await rig.queue().enqueue("again", { ...options, id })).created;
}

/** All that is left of a queue after its tasks, without what belongs to the queue as a whole. */
async function left() {
  const { expiry, dead, tasks } = await rig.space();
  const fields = [...tasks].filter(([field]) => !field.startsWith("~"));
  return { expiry: [...expiry], dead: [...dead], tasks: Object.fromEntries(fields) };
}

describe("an id that is unique for a day", () => {
  const options = { id: "welcome-17", unique: "24h" } as const;

  test("is refused for a day, also after the hour of its record, and then free", async () => {
    expect(await queue.enqueue({ to: "a" }, options)).toEqual({ id: "welcome-17", created: true });
    await (await queue.dequeue())[0]?.complete({ sent: true });
    expect(await createdAt(30 * MINUTE)).toBe(false);
    expect(await createdAt(62 * MINUTE)).toBe(false);
    expect(await createdAt(23 * HOUR + 59 * MINUTE)).toBe(false);
    expect(await createdAt(DAY - 1)).toBe(false);
    expect(await createdAt(DAY)).toBe(true);
    const [task] = await queue.dequeue({ max: 5 });
    expect(task).toMatchObject({ id: "welcome-17", payload: "again", attempt: 1 });
  });

  test("keeps its payload until the end, its result for an hour, and then a tombstone with neither", async () => {
    await queue.enqueue({ secret: "of the payload" }, options);
    await (await queue.dequeue())[0]?.complete("the result");
    expect(await queue.get("welcome-17")).toMatchObject({ result: "the result" });
    await sweptAt(HOUR);
    const { tasks, ...places } = await left();
    const token = /;t=[\w-]+/.exec(tasks[".welcome-17"] ?? "")?.[0];
    expect(tasks).toEqual({
      "welcome-17": "",
      ".welcome-17": `1;3;${START};0;0;x;0;;;${token};U=${DAY}\n`,
    });
    expect(places).toEqual({ expiry: [["welcome-17", START + DAY]], dead: [] });
    await sweptAt(DAY);
    expect(await left()).toEqual({ expiry: [], dead: [], tasks: {} });
  });

  const cases: Record<string, { keep?: EnqueueOptions; end: (queue: Queue) => Promise<unknown> }> = {
    "was completed without a result": {
      keep: { resultTtl: 0 },
      end: async (queue) => (await queue.dequeue())[0]?.complete(),
    },
    "was a dead letter for an hour": {
      keep: { deadTtl: "1h" },
      end: async (queue) => (await queue.dequeue())[0]?.reject("no"),
    },
    "used up its attempts": {
      keep: { deadTtl: 0, maxAttempts: 1 },
      end: async (queue) => (await queue.dequeue())[0]?.requeue(),
    },
    "lost its last lease": {
      keep: { deadTtl: "1h", maxAttempts: 1 },
      end: async (queue) => {
        await queue.dequeue({ lease: 1_000 });
        await sweptAt(1_000);
      },
    },
    "was cancelled while it waited": { end: (queue) => queue.cancel("welcome-17") },
    "was cancelled while it was delayed": {
      keep: { delay: "2d" },
      end: (queue) => queue.cancel("welcome-17"),
    },
    "was cancelled in a group": { keep: { group: "g" }, end: (queue) => queue.cancel("welcome-17") },
    "was cancelled while it worked": {
      end: async (queue) => {
        const [task] = await queue.dequeue();
        await queue.cancel("welcome-17");
        await task?.requeue();
      },
    },
    "was completed and removed": {
      end: async (queue) => {
        await (await queue.dequeue())[0]?.complete("result");
        await rig.operator().remove("welcome-17");
      },
    },
    "was rejected, and removed later": {
      end: async (queue) => {
        await (await queue.dequeue())[0]?.reject("no");
        rig.now += 10 * MINUTE;
        await rig.operator().remove("welcome-17");
      },
    },
    "was purged while it waited": { end: () => rig.operator().purge({ state: "pending" }) },
    "was purged when it had completed": {
      end: async (queue) => {
        await (await queue.dequeue())[0]?.complete("result");
        await rig.operator().purge({ state: "completed" });
      },
    },
    "was a dead letter, and purged later": {
      end: async (queue) => {
        await (await queue.dequeue())[0]?.reject("no");
        rig.now += 10 * MINUTE;
        await rig.operator().purge({ state: "rejected" });
      },
    },
    "was redriven, and completed": {
      end: async (queue) => {
        await (await queue.dequeue())[0]?.reject("no");
        rig.now += 2 * HOUR;
        await rig.operator().redrive({ reason: "rejected" });
        await (await queue.dequeue())[0]?.complete();
      },
    },
  };

  test.each(Object.entries(cases))("is refused for a day if its task %s", async (_, { keep, end }) => {
    await queue.enqueue({ to: "a" }, { ...keep, ...options });
    await end(queue);
    for (const since of [2 * HOUR, 4 * HOUR, DAY - 1]) {
      expect(await createdAt(since)).toBe(false);
      expect(await found()).toEqual({});
    }
    await queue.dequeue();
    expect(await left()).toMatchObject({ expiry: [["welcome-17", START + DAY]], dead: [] });
    await sweptAt(DAY);
    expect(await left()).toEqual({ expiry: [], dead: [], tasks: {} });
    expect(await createdAt(DAY)).toBe(true);
  });

  test("is refused as long as its dead letter is kept, if that is longer", async () => {
    await queue.enqueue(1, options);
    await (await queue.dequeue())[0]?.reject("no");
    expect(await createdAt(7 * DAY - 1)).toBe(false);
    expect(await createdAt(7 * DAY)).toBe(true);
  });

  test("is as if forgotten for all calls but enqueue, once the time of its record is over", async () => {
    await queue.enqueue(1, options);
    const [task] = await queue.dequeue();
    await task?.complete();
    await sweptAt(HOUR);
    const before = await rig.keySpace();
    const operator = rig.operator();
    expect(await queue.get("welcome-17")).toBeNull();
    expect(await queue.cancel("welcome-17")).toEqual({ ok: false, code: "not_found" });
    expect(await task?.complete()).toMatchObject({ ok: false, code: "lease_lost" });
    expect(await operator.remove("welcome-17")).toEqual({ ok: false, code: "not_found" });
    expect((await operator.redrive({ ids: ["welcome-17"] })).refused).toMatchObject([{ code: "not_found" }]);
    expect(await operator.purge({ state: "completed" })).toMatchObject({ purged: 0 });
    expect((await operator.list({ state: "completed" })).tasks).toEqual([]);
    expect(await rig.keySpace()).toEqual(before);
  });

  test("gives the producer's own request created: true all the time, and another with its key is refused", async () => {
    const enqueue = (payload: string) => queue.enqueue(payload, { ...options, idempotencyKey: "signup" });
    expect(await enqueue("first")).toMatchObject({ created: true });
    await (await queue.dequeue())[0]?.complete();
    for (const since of [30 * MINUTE, 2 * HOUR, DAY - 1]) {
      await sweptAt(since);
      expect(await enqueue("first")).toEqual({ id: "welcome-17", created: true });
      await expect(enqueue("other")).rejects.toMatchObject({ code: "idempotency_key_reused" });
    }
    expect(await queue.dequeue()).toHaveLength(0);
  });

  test("begins anew with `again`, also from its tombstone, and its version goes on", async () => {
    await queue.enqueue(1, options);
    await (await queue.dequeue())[0]?.complete();
    expect(await createdAt(2 * HOUR, "welcome-17", { again: true })).toBe(true);
    expect(await queue.get("welcome-17")).toMatchObject({ state: "pending", attempt: 0, version: 4 });
    expect(await left()).toMatchObject({ expiry: [] });
    await (await queue.dequeue())[0]?.complete();
    // The new life is not unique.
    expect(await createdAt(3 * HOUR - 1)).toBe(false);
    expect(await createdAt(3 * HOUR)).toBe(true);
  });

  test("keeps its entry in the line counted if it was cancelled there", async () => {
    await queue.enqueue(1, options);
    await queue.cancel("welcome-17");
    await sweptAt(2 * HOUR);
    expect(ghostsOf(await rig.space())).toBe(1);
    expect(await createdAt(2 * HOUR)).toBe(false);
    expect(await queue.dequeue()).toHaveLength(0);
    expect(ghostsOf(await rig.space())).toBe(0);
    expect(await createdAt(3 * HOUR)).toBe(false);
  });

  test("with a ghost that outlasts it takes the ghost's place", async () => {
    await queue.enqueue("old", options);
    await queue.cancel("welcome-17");
    await queue.enqueue("behind");
    await sweptAt(2 * HOUR);
    expect(await createdAt(DAY)).toBe(true);
    expect((await queue.dequeue({ max: 5 })).map(({ payload }) => payload)).toEqual(["again", "behind"]);
  });
});

test("two thousand unique ids are swept into tombstones and forgotten, each at its time", async () => {
  for (const half of [0, 1]) {
    await queue.enqueueMany(
      Array.from({ length: 1_000 }, (_, i) => ({
        payload: i,
        id: `${half}-${i}`,
        resultTtl: 0,
        ...(i % 2 === half && { unique: "1h" }),
      })),
    );
    const tasks = await queue.dequeue({ max: 1_000 });
    await queue.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" })));
  }
  rig.now += 300_000;
  expect(await rig.sweepOnce(1_500)).toEqual(["ok", 0, 0, 0, 1_500, 1, 0, 0]);
  expect(await rig.sweepOnce(1_500)).toEqual(["ok", 0, 0, 0, 500, 0, 0, 0]);
  const { expiry } = await rig.space();
  expect(expiry.size).toBe(1_000);
  expect(new Set(expiry.values())).toEqual(new Set([START + HOUR]));
  await sweptAt(HOUR);
  expect(await left()).toEqual({ expiry: [], dead: [], tasks: {} });
});

describe("the option `unique` of a queue", () => {
  test("is that of its tasks with an id of their own, and leaves out those with a generated one", async () => {
    const queue = rig.queue({ unique: "24h" });
    const { id } = await queue.enqueue("generated");
    await queue.enqueueMany([{ payload: 1, id: "own" }, { payload: 1 }], { idempotencyKey: "call" });
    await queue.enqueue(1, { id: "shorter", unique: "2h" });
    await queue.enqueue(1, { id: "not", unique: 0 });
    const { tasks } = await rig.space();
    const letters = [...tasks].map(([field, text]) => [field, /;U=(\d+)/.exec(text)?.[1]]);
    expect(Object.fromEntries(letters.filter(([, time]) => time !== undefined))).toEqual({
      own: String(DAY),
      shorter: String(2 * HOUR),
    });
    expect(tasks.get(id)).toBeDefined();
  });

  test("is overridden by `again`", async () => {
    const queue = rig.queue({ unique: "24h" });
    await queue.enqueue(1, { id: "a" });
    await (await queue.dequeue())[0]?.complete();
    expect(await queue.enqueue(2, { id: "a" })).toMatchObject({ created: false });
    expect(await queue.enqueue(2, { id: "a", again: true })).toMatchObject({ created: true });
    expect((await rig.space()).tasks.get("a")).not.toContain(";U=");
  });

  test("is refused at once if it is no duration", () => {
    expect(() => rig.queue({ unique: "a day" as never })).toThrow(
      expect.objectContaining({ code: "invalid_argument", path: "unique" }),
    );
  });
});

test("a dedup key and a unique id go together", async () => {
  const dedup = { key: "order-7", window: "1h" as const };
  await queue.enqueue(1, { id: "first", unique: "24h", dedup });
  expect(await queue.enqueue(2, { id: "second", unique: "24h", dedup })).toEqual({
    id: "first",
    created: false,
  });
  await (await queue.dequeue())[0]?.complete();
  expect(await createdAt(2 * HOUR, "second", { dedup })).toBe(true);
  expect(await createdAt(2 * HOUR, "first")).toBe(false);
});

test.each<[string, EnqueueOptions]>([
  ["without an id", { unique: "24h" }],
  ["with again", { id: "a", again: true, unique: "24h" }],
  ["that is negative", { id: "a", unique: -1 }],
  ["of more than ten years", { id: "a", unique: "3651d" }],
])("`unique` %s is refused, and nothing is written", async (_, options) => {
  await expect(rig.queue().enqueue(1, options)).rejects.toMatchObject({
    code: "invalid_argument",
    path: "unique",
  });
  expect(await rig.keySpace()).toEqual({});
});
