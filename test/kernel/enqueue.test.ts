import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Queue, sweep } from "../../src/index.ts";
import { START, useRig } from "../support/rig.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));

test("generated ids are 20 characters, rise, and differ", async () => {
  const queue = rig.queue<number>();
  const made = await queue.enqueueMany(Array.from({ length: 500 }, (_, i) => ({ payload: i })));
  const ids = made.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].toSorted());
  expect(ids.every((id) => /^[0-9A-Za-z]{20}$/.test(id))).toBe(true);
  expect(made.every(({ created }) => created)).toBe(true);
});

describe("when a task is ready", () => {
  afterEach(() => void vi.useRealTimers());

  test("an instant that has come makes it pending, a later one delayed", async () => {
    const at = (instant: number | Date) => ({ payload: 1, id: `t${Number(instant)}`, at: instant });
    await queue.enqueueMany([at(START - 1), at(START), at(new Date(START + 1))]);
    const { pending, delayed } = await rig.space();
    expect(pending.toReversed()).toEqual([`t${START - 1}`, `t${START}`]);
    expect([...delayed]).toEqual([[`t${START + 1}`, START + 1]]);
  });

  test("a caller's clock that is a day off, ahead or behind, neither hastens nor delays anything", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    for (const off of [86_400_000, -86_400_000]) {
      const queue = new Queue(`off${off}`, { transport: rig.transport });
      const before = await redisMs();
      vi.setSystemTime(before + off);
      await queue.enqueue("later", { id: "later", delay: "1h" });
      await queue.enqueue("held", { id: "held" });
      await queue.enqueue("brief", { id: "brief" });
      expect((await queue.dequeue({ lease: "1h" })).map(({ id }) => id)).toEqual(["held"]);
      expect(await queue.dequeue({ lease: 1 })).toHaveLength(1);
      const after = await redisMs();
      const [later, held] = [await queue.get("later"), await queue.get("held")];
      expect(later?.dueAt).toBe((later?.enqueuedAt ?? 0) + 3_600_000);
      for (const at of [later?.enqueuedAt, (held?.deadlineAt ?? 0) - 3_600_000]) {
        expect(at).toBeGreaterThanOrEqual(before);
        expect(at).toBeLessThanOrEqual(after);
      }
      while ((await redisMs()) <= after);
      expect(await sweep(rig.transport, { queues: (name) => name === queue.name })).toMatchObject({
        promoted: 0,
        reclaimed: 1,
      });
      expect((await queue.dequeue({ max: 5 })).map(({ id }) => id)).toEqual(["brief"]);
    }
  });

  async function redisMs() {
    const [seconds, micros] = (await rig.command("TIME")) as [string, string];
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  }
});

test("instants that cannot be in seconds are taken", async () => {
  const at = [0, 1, 999_999_999, 10_000_000_000, new Date(0), new Date("1994-08-01")];
  expect(await queue.enqueueMany(at.map((instant) => ({ payload: 1, at: instant })))).toHaveLength(6);
});

test("a task's options override the queue's, and those override the defaults", async () => {
  const queue = rig.queue({ lease: "10s", maxAttempts: 3, resultTtl: "1m", deadTtl: "2m", delay: "1s" });
  await queue.enqueueMany([
    { payload: 1, id: "queue" },
    { payload: 1, id: "task", lease: "7s", maxAttempts: 0, resultTtl: 0, deadTtl: 0, delay: 0 },
  ]);
  const { tasks, pending, delayed } = await rig.space();
  expect(tasks.get("queue")).toMatch(/^1;\d+;t=\w+;l=10000;m=3;r=60000;d=120000\nj1$/);
  expect(tasks.get("task")).toMatch(/^1;\d+;t=\w+;l=7000;m=0;r=0;d=0\nj1$/);
  expect([pending, [...delayed.keys()]]).toEqual([["task"], ["queue"]]);
});

test("headers come with the payload and in get", async () => {
  const headers = { traceparent: "00-ab", "x;y=z": "ü\n\u0000\ud800😀", ["__proto__"]: "own" };
  const { id } = await queue.enqueue({ a: 1 }, { headers });
  expect((await queue.get(id))?.headers).toEqual(headers);
  const [task] = await queue.dequeue();
  expect(task?.headers).toEqual(headers);
  expect(Object.keys(task?.headers ?? {})).toEqual(Object.keys(headers));
  expect(task?.payload).toEqual({ a: 1 });
});
