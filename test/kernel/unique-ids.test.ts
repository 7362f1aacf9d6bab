import { beforeEach, describe, expect, test } from "vitest";
import type { LeasedTask, Queue } from "../../src/index.ts";
import { numbered } from "../support/new-tasks.ts";
import { START, useRig } from "../support/rig.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Sweeps until nothing is left to do, at a time since the start. */
async function sweptAt(since: number): Promise<void> {
  rig.now = START + since;
  while (((await rig.sweepOnce()) as unknown[])[5] === 1);
}

/** All that is left of a queue after its tasks, without what belongs to the queue as a whole. */
async function left() {
  const { expiry, dead, tasks } = await rig.space();
  const fields = [...tasks].filter(([field]) => !field.startsWith("~"));
  return { expiry: [...expiry], dead: [...dead], tasks: Object.fromEntries(fields) };
}

describe("an id that is unique for a day", () => {
  const options = { id: "welcome-17", unique: "24h" } as const;

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

  test.each<[what: string, end: (task: LeasedTask) => Promise<unknown>]>([
    ["completed and removed", async (task) => [await task.complete(), await rig.operator().remove(task.id)]],
    [
      "rejected, and purged later",
      async (task) => {
        await task.reject("no");
        rig.now += HOUR;
        await rig.operator().purge({ state: "rejected" });
      },
    ],
    ["cancelled", async (task) => [await queue.cancel(task.id), await task.requeue()]],
  ])("is refused for a day if its task was %s, and then free", async (_, end) => {
    await queue.enqueue({ to: "a" }, options);
    await end((await queue.dequeue())[0] as LeasedTask);
    for (const since of [2 * HOUR, DAY - 1]) {
      await sweptAt(since);
      expect(await queue.enqueue("again", { id: options.id })).toMatchObject({ created: false });
    }
    // Nothing is left of it but its id.
    expect(await rig.operator().remove(options.id)).toEqual({ ok: false, code: "not_found" });
    await sweptAt(DAY);
    expect(await left()).toEqual({ expiry: [], dead: [], tasks: {} });
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
  for (let call = 0; call < 4; call++)
    expect(await rig.sweepOnce(1_500)).toEqual(["ok", 0, 0, 0, 500, 1, 0, 0]);
  expect(await rig.sweepOnce(1_500)).toEqual(["ok", 0, 0, 0, 0, 0, 0, 0]);
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

  test("is overridden by `again`", async () => {
    const unique = rig.queue({ unique: "24h" });
    await unique.enqueue(1, { id: "a" });
    await (await unique.dequeue())[0]?.complete();
    expect(await unique.enqueue(2, { id: "a" })).toMatchObject({ created: false });
    expect(await unique.enqueue(2, { id: "a", again: true })).toMatchObject({ created: true });
    expect((await rig.space()).tasks.get("a")).not.toContain(";U=");
  });
});
