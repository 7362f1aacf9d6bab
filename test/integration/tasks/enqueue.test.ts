import { afterEach, describe, expect, test, vi } from "vitest";
import { Queue, sweep } from "../../../src/index.ts";
import { START, useRig } from "../../support/rig.ts";

const rig = useRig();

describe("ids", () => {
  test("generated ids are 20 characters, rise, and differ", async () => {
    const queue = rig.queue<number>();
    const made = await queue.enqueueMany(Array.from({ length: 500 }, (_, i) => ({ payload: i })));
    const ids = made.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].toSorted());
    expect(ids.every((id) => /^[0-9A-Za-z]{20}$/.test(id))).toBe(true);
    expect(made.every(({ created }) => created)).toBe(true);
  });

  test("a caller's id is refused while a task of that id is pending, delayed, working or ended, and nothing changes (I3 I7)", async () => {
    const queue = rig.queue();
    const again = async () => {
      const before = await rig.keySpace();
      expect(await queue.enqueue("other", { id: "a" })).toEqual({ id: "a", created: false });
      expect(await queue.enqueueMany([{ payload: "other", id: "a", delay: "1s" }])).toEqual([
        { id: "a", created: false },
      ]);
      expect(await rig.keySpace()).toEqual(before);
    };
    await queue.enqueue("first", { id: "a", delay: "1s" });
    await again();
    rig.now += 1_000;
    await rig.sweepOnce();
    await again();
    const [task] = await queue.dequeue();
    await again();
    await task?.complete();
    await again();
    await queue.enqueue("dead", { id: "b" });
    await (await queue.dequeue())[0]?.reject();
    const before = await rig.keySpace();
    expect(await queue.enqueue("other", { id: "b" })).toEqual({ id: "b", created: false });
    expect(await rig.keySpace()).toEqual(before);
  });

  test("an id is free again when its record has expired", async () => {
    const queue = rig.queue({ resultTtl: 0 });
    await queue.enqueue("one", { id: "a" });
    await (await queue.dequeue())[0]?.complete();
    rig.now += 299_999;
    await rig.sweepOnce();
    expect(await queue.enqueue("two", { id: "a" })).toEqual({ id: "a", created: false });
    rig.now += 1;
    await rig.sweepOnce();
    expect(await queue.enqueue("two", { id: "a" })).toEqual({ id: "a", created: true });
    expect((await queue.dequeue())[0]).toMatchObject({ id: "a", payload: "two", attempt: 1 });
  });

  test("of two tasks with one id in a batch only the first is created, also if the batch is sent again", async () => {
    const queue = rig.queue();
    const tasks = [{ payload: 1, id: "a" }, { payload: 2, id: "a" }, { payload: 3 }];
    const first = await queue.enqueueMany(tasks, { idempotencyKey: "key-1" });
    expect(first.map(({ created }) => created)).toEqual([true, false, true]);
    const before = await rig.keySpace();
    expect(await queue.enqueueMany(tasks, { idempotencyKey: "key-1" })).toEqual(first);
    expect(await rig.keySpace()).toEqual(before);
    const batch = await queue.dequeue({ max: 10 });
    expect(batch.map(({ payload }) => payload)).toEqual([1, 3]);
  });

  test("ids made from an idempotency key differ by key and place in the batch", async () => {
    const one = rig.queue<number>();
    const [a, b] = await one.enqueueMany([{ payload: 1 }, { payload: 2 }], { idempotencyKey: "key-1" });
    const c = await one.enqueue(3, { idempotencyKey: "key-2" });
    expect(new Set([a?.id, b?.id, c.id]).size).toBe(3);
    const copy = await one.enqueueMany([{ payload: 1 }, { payload: 2 }], { idempotencyKey: "key-1" });
    expect(copy).toEqual([a, b]);
    expect((await rig.space()).pending).toHaveLength(3);
  });

  test("a producer that loses a race for an id gets created: false for every copy of its request", async () => {
    const queue = rig.queue();
    expect(await queue.enqueue("mine", { id: "a", idempotencyKey: "me" })).toEqual({
      id: "a",
      created: true,
    });
    expect(await queue.enqueue("yours", { id: "a", idempotencyKey: "you" })).toEqual({
      id: "a",
      created: false,
    });
    const [task] = await queue.dequeue();
    expect(task?.payload).toBe("mine");
    expect(await queue.enqueue("mine", { id: "a", idempotencyKey: "me" })).toEqual({
      id: "a",
      created: true,
    });
    await task?.complete();
    expect(await queue.enqueue("mine", { id: "a", idempotencyKey: "me" })).toEqual({
      id: "a",
      created: true,
    });
    expect(await queue.enqueue("yours", { id: "a", idempotencyKey: "you" })).toEqual({
      id: "a",
      created: false,
    });
  });
});

describe("when a task is ready", () => {
  afterEach(() => void vi.useRealTimers());

  test("delay and at make it delayed; an instant in the past makes it pending", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([
      { payload: 1, id: "soon", delay: 500 },
      { payload: 1, id: "past", at: START - 1 },
      { payload: 1, id: "now", at: START },
      { payload: 1, id: "later", at: new Date(START + 1) },
      { payload: 1, id: "zero", delay: 0 },
    ]);
    const space = await rig.space();
    expect(space.pending.toReversed()).toEqual(["past", "now", "zero"]);
    expect([...space.delayed]).toEqual([
      ["later", START + 1],
      ["soon", START + 500],
    ]);
  });

  test("times come from Redis's clock", async () => {
    const queue = rig.queue({ now: undefined });
    const before = await redisMs();
    const { id } = await queue.enqueue(1, { delay: 60_000 });
    const after = await redisMs();
    const task = await queue.get(id);
    expect(task?.enqueuedAt).toBeGreaterThanOrEqual(before);
    expect(task?.enqueuedAt).toBeLessThanOrEqual(after);
    expect(task?.dueAt).toBe((task?.enqueuedAt ?? 0) + 60_000);
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
      const reported = [(await queue.get("later"))?.dueAt, (await queue.get("held"))?.deadlineAt];
      for (const at of reported) {
        expect(at).toBeGreaterThanOrEqual(before + 3_600_000);
        expect(at).toBeLessThanOrEqual(after + 3_600_000);
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

describe("what is fixed at enqueue", () => {
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
    const queue = rig.queue();
    const headers = { traceparent: "00-ab", "x;y=z": "ü\n\u0000\ud800😀", ["__proto__"]: "own" };
    const { id } = await queue.enqueue({ a: 1 }, { headers });
    expect((await queue.get(id))?.headers).toEqual(headers);
    const [task] = await queue.dequeue();
    expect(task?.headers).toEqual(headers);
    expect(Object.keys(task?.headers ?? {})).toEqual(Object.keys(headers));
    expect(task?.payload).toEqual({ a: 1 });
  });
});
