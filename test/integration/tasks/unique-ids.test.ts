import { beforeEach, describe, expect, test } from "vitest";
import type { EnqueueOptions, Queue } from "../../../src/index.ts";
import { deepTools } from "../../support/deep.ts";
import { numbered } from "../../support/new-tasks.ts";
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

  const next = async () => (await queue.dequeue())[0];
  const cancel = () => queue.cancel("welcome-17");
  const remove = () => rig.operator().remove("welcome-17");
  const purge = (state: "pending" | "completed" | "rejected") => rig.operator().purge({ state });
  const inTurn =
    (...steps: (() => unknown)[]) =>
    async () => {
      for (const step of steps) await step();
    };
  const completed = async () => (await next())?.complete("result");
  const rejected = async () => (await next())?.reject("no");
  const later = (ms: number) => () => void (rig.now += ms);

  test.each<[end: string, run: () => Promise<unknown>, keep?: EnqueueOptions]>([
    ["was completed without a result", completed, { resultTtl: 0 }],
    ["was a dead letter for an hour", rejected, { deadTtl: "1h" }],
    ["used up its attempts", async () => (await next())?.requeue(), { deadTtl: 0, maxAttempts: 1 }],
    [
      "lost its last lease",
      inTurn(
        () => queue.dequeue({ lease: 1_000 }),
        () => sweptAt(1_000),
      ),
      { deadTtl: "1h", maxAttempts: 1 },
    ],
    ["was cancelled while it waited", cancel],
    ["was cancelled while it was delayed", cancel, { delay: "2d" }],
    ["was cancelled in a group", cancel, { group: "g" }],
    [
      "was cancelled while it worked",
      async () => {
        const task = await next();
        await cancel();
        await task?.requeue();
      },
    ],
    ["was completed and removed", inTurn(completed, remove)],
    ["was rejected, and removed later", inTurn(rejected, later(10 * MINUTE), remove)],
    ["was purged while it waited", () => purge("pending")],
    ["was purged when it had completed", inTurn(completed, () => purge("completed"))],
    ["was a dead letter, and purged later", inTurn(rejected, later(10 * MINUTE), () => purge("rejected"))],
    [
      "was redriven, and completed",
      inTurn(rejected, later(2 * HOUR), () => rig.operator().redrive({ reason: "rejected" }), completed),
    ],
  ])("is refused for a day if its task %s", async (_, end, keep = {}) => {
    await queue.enqueue({ to: "a" }, { ...keep, ...options });
    await end();
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
});

test("two thousand unique ids are swept into tombstones and forgotten, each at its time", async () => {
  for (const half of [0, 1]) {
    const ids = numbered(1_000, { resultTtl: 0 }, `${half}-`);
    await queue.enqueueMany(ids.map((one, i) => ({ ...one, ...(i % 2 === half && { unique: "1h" }) })));
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
    const times = [...tasks].map(([field, text]) => [field, Number(/;U=(\d+)/.exec(text)?.[1] ?? 0)]);
    const set = Object.fromEntries(times.filter(([, time]) => time !== 0)) as unknown;
    expect(set).toEqual({ own: DAY, shorter: 2 * HOUR });
    expect(tasks.get(id)).toBeDefined();
  });

  test("is overridden by `again`, and refused at once if it is no duration", async () => {
    const unique = rig.queue({ unique: "24h" });
    await unique.enqueue(1, { id: "a" });
    await (await unique.dequeue())[0]?.complete();
    expect(await unique.enqueue(2, { id: "a" })).toMatchObject({ created: false });
    expect(await unique.enqueue(2, { id: "a", again: true })).toMatchObject({ created: true });
    expect((await rig.space()).tasks.get("a")).not.toContain(";U=");
    expect(() => rig.queue({ unique: "a day" as never })).toThrow(
      expect.objectContaining({ code: "invalid_argument", path: "unique" }),
    );
  });
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
