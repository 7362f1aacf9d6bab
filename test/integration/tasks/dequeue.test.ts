import { describe, expect, test } from "vitest";
import type { Batch } from "../../../src/index.ts";
import { ghostsOf } from "../../support/key-space.ts";
import { START, useRig } from "../../support/rig.ts";

const rig = useRig();
const ids = (batch: Batch<unknown>) => batch.map(({ id }) => id);

/** Enqueues tasks with ids by their number. */
async function fill(count: number, prefix = "t"): Promise<string[]> {
  const tasks = Array.from({ length: count }, (_, i) => ({ id: `${prefix}${i}`, payload: i }));
  for (let i = 0; i < count; i += 1_000) await rig.queue().enqueueMany(tasks.slice(i, i + 1_000));
  return tasks.map(({ id }) => id);
}

describe("order", () => {
  test("first in, first out, one by one and in batches (I8)", async () => {
    const all = await fill(25);
    const queue = rig.queue();
    expect(ids(await queue.dequeue())).toEqual(all.slice(0, 1));
    expect(ids(await queue.dequeue({ max: 10 }))).toEqual(all.slice(1, 11));
    expect(ids(await queue.dequeue({ max: 100 }))).toEqual(all.slice(11));
    expect(await queue.dequeue({ max: 100 })).toHaveLength(0);
  });

  test("a batch of 1,000 comes complete and in order", async () => {
    const all = await fill(1_200);
    const batch = await rig.queue().dequeue({ max: 1_000 });
    expect(ids(batch)).toEqual(all.slice(0, 1_000));
    expect(batch.map(({ payload }) => payload)).toEqual(Array.from({ length: 1_000 }, (_, i) => i));
    expect((await rig.space()).working.size).toBe(1_000);
    expect((await rig.space()).pending).toHaveLength(200);
  });

  test("expired leases come before pending tasks, promoted tasks after them, each oldest first (I6 I8)", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([
      { payload: 0, id: "late", delay: 2_000 },
      { payload: 0, id: "early", delay: 1_000 },
      { payload: 0, id: "same-b", delay: 1_500 },
      { payload: 0, id: "same-a", delay: 1_500 },
    ]);
    await fill(2, "held");
    await queue.dequeue({ lease: 900 });
    await queue.dequeue({ lease: 800 });
    rig.now += 2_000;
    await fill(2, "fresh");
    await rig.sweepOnce();
    expect(ids(await queue.dequeue({ max: 10 }))).toEqual(["held1"]);
    expect(ids(await queue.dequeue({ max: 9 }))).toEqual(["held0"]);
    expect(ids(await queue.dequeue({ max: 10 }))).toEqual([
      "fresh0",
      "fresh1",
      "early",
      "same-a",
      "same-b",
      "late",
    ]);
  });

  test("a dequeue that finds too few pending tasks promotes and reclaims by itself (I6)", async () => {
    const queue = rig.queue();
    await fill(1);
    await queue.enqueue(0, { id: "due", delay: 50 });
    await queue.dequeue({ lease: 100 });
    expect(ids(await queue.dequeue())).toEqual([]);
    rig.now += 99;
    expect(ids(await queue.dequeue())).toEqual(["due"]);
    expect(ids(await queue.dequeue())).toEqual([]);
    rig.now += 1;
    expect(ids(await queue.dequeue())).toEqual(["t0"]);
  });

  test("reclaimed tasks come before pending ones, promoted tasks after them (I8)", async () => {
    const queue = rig.queue();
    await fill(2, "old");
    await queue.dequeue({ max: 2, lease: 100 });
    await queue.enqueue(0, { id: "due", delay: 50 });
    await fill(3, "new");
    rig.now += 100;
    expect(ids(await queue.dequeue({ max: 20 }))).toEqual(["old0", "old1"]);
    expect(ids(await queue.dequeue({ max: 20 }))).toEqual(["new0", "new1", "new2", "due"]);
  });

  test("expired leases without an attempt left do not hide the tasks behind them", async () => {
    const once = rig.queue({ maxAttempts: 1 });
    for (let i = 0; i < 5; i++) await once.enqueue(0, { id: `last${i}` });
    await fill(1);
    await once.dequeue({ max: 6, lease: 100 });
    rig.now += 100;
    expect(ids(await once.dequeue())).toEqual(["t0"]);
    expect((await once.counts()).rejected).toBe(5);
  });

  test("a dequeue that finds enough pending tasks neither promotes nor reclaims", async () => {
    const queue = rig.queue();
    await queue.enqueue(0, { id: "due", delay: 1 });
    await fill(3);
    rig.now += 10;
    expect(ids(await queue.dequeue({ max: 3 }))).toEqual(["t0", "t1", "t2"]);
    expect([...(await rig.space()).delayed.keys()]).toEqual(["due"]);
  });
});

describe("the lease", () => {
  test("is the task's own, else the dequeue's, else the queue's", async () => {
    const queue = rig.queue({ lease: "40s" });
    const bare = rig.queue();
    await bare.enqueueMany([{ payload: 0, lease: "7s" }, { payload: 0 }, { payload: 0 }]);
    const deadlines = [
      (await queue.dequeue({ lease: "9s" }))[0]?.deadlineAt,
      (await queue.dequeue({ lease: "9s" }))[0]?.deadlineAt,
      (await queue.dequeue())[0]?.deadlineAt,
    ];
    expect(deadlines).toEqual([START + 7_000, START + 9_000, START + 40_000]);
  });

  test("numbers are never used twice (I2)", async () => {
    const queue = rig.queue({ maxAttempts: 0 });
    await fill(2);
    const leases: (string | undefined)[] = [];
    for (let round = 0; round < 4; round++) {
      leases.push((await queue.dequeue({ lease: 10 }))[0]?.receipt.split(".")[2]);
      rig.now += 10;
    }
    expect(leases).toEqual(["1", "2", "3", "4"]);
    expect((await rig.space()).tasks.get("~lease")).toBe("4");
  });

  test("is counted: each delivery raises the attempt by one (I4)", async () => {
    const queue = rig.queue({ maxAttempts: 0 });
    await queue.enqueue(0);
    const attempts: (number | undefined)[] = [];
    for (let i = 0; i < 12; i++) {
      attempts.push((await queue.dequeue({ lease: 10 }))[0]?.attempt);
      rig.now += 10;
    }
    expect(attempts).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });
});

describe("bounds", () => {
  test("maxBytes keeps tasks that do not fit in their place, and always returns one", async () => {
    const queue = rig.queue<string>();
    await queue.enqueueMany(
      ["a", "b", "c", "d"].map((letter) => ({ id: letter, payload: letter.repeat(1_000) })),
    );
    expect(ids(await queue.dequeue({ max: 4, maxBytes: 10 }))).toEqual(["a"]);
    expect(ids(await queue.dequeue({ max: 4, maxBytes: 2_200 }))).toEqual(["b", "c"]);
    expect((await rig.space()).pending).toEqual(["d"]);
  });

  test("300 payloads of 100 kB come in order, in calls bounded by maxBytes", async () => {
    const queue = rig.queue<string>();
    const payload = "x".repeat(100_000);
    for (let i = 0; i < 300; i += 60) {
      await queue.enqueueMany(Array.from({ length: 60 }, (_, j) => ({ id: `t${i + j}`, payload })));
    }
    const got: string[] = [];
    for (let calls = 0; calls < 4; calls++) got.push(...ids(await queue.dequeue({ max: 1_000 })));
    expect(got).toEqual(Array.from({ length: 300 }, (_, i) => `t${i}`));
  });

  test("one task that kills its function ends alone in the dead letters (law 11)", async () => {
    const queue = rig.queue({ maxAttempts: 5 });
    await fill(100);
    for (let rounds = 0; rounds < 60; rounds++) {
      const batch = await queue.dequeue({ max: 100, lease: 1_000 });
      if (batch.some(({ id }) => id === "t37")) rig.now += 1_000;
      else if (batch.length > 0)
        await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "complete" })));
    }
    expect([...(await rig.space()).dead.keys()]).toEqual(["t37"]);
    expect((await queue.counts()).working).toBe(0);
    const states = await Promise.all(
      Array.from({ length: 100 }, async (_, i) => (await queue.get(`t${i}`))?.state),
    );
    expect(states.filter((state) => state === "completed")).toHaveLength(99);
    expect((await queue.get("t37"))?.reason).toBe("lease_expired");
  });

  test("a task that its holder requeues travels in full batches again", async () => {
    const queue = rig.queue({ maxAttempts: 0 });
    await fill(1);
    await queue.dequeue({ lease: 10 });
    rig.now += 10;
    const [alone] = await queue.dequeue({ max: 1 });
    await alone?.requeue();
    await fill(9, "more");
    expect(await queue.dequeue({ max: 10 })).toHaveLength(10);
  });

  test("a task that may only travel in smaller batches stays in front and ends a larger batch", async () => {
    const queue = rig.queue({ maxAttempts: 0 });
    await fill(1, "bad");
    await queue.dequeue({ lease: 10 });
    await fill(30);
    rig.now += 10;
    await rig.sweepOnce();
    expect((await rig.space()).pending.at(-1)).toBe("bad0");
    expect(await queue.dequeue({ max: 20 })).toHaveLength(2);
    expect(await queue.dequeue({ max: 20 })).toHaveLength(20);
  });
});

describe("nextDueAt", () => {
  test("is when the next task is due or the next lease expires", async () => {
    const queue = rig.queue();
    expect((await queue.dequeue()).nextDueAt).toBeNull();
    await queue.enqueue(0, { delay: 500 });
    expect((await queue.dequeue()).nextDueAt).toBe(START + 500);
    await fill(2);
    expect((await queue.dequeue({ lease: 100 })).nextDueAt).toBe(START);
    expect((await queue.dequeue({ max: 2 })).nextDueAt).toBe(START + 100);
    rig.now += 100;
    expect((await queue.dequeue({ max: 5 })).nextDueAt).toBe(START + 500);
  });
});

test("nextDueAt is null if the only expired lease is reclaimed by the same dequeue", async () => {
  const queue = rig.queue();
  await queue.enqueue(1, { id: "a" });
  await queue.dequeue({ lease: 1_000 });
  rig.now += 1_000;
  const batch = await queue.dequeue({ max: 2 });
  expect([ids(batch), batch.nextDueAt]).toEqual([["a"], null]);
});

describe("nextDueAt is now while tasks wait", () => {
  test("behind a task that did not fit into maxBytes", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(["a", "b"].map((id) => ({ id, payload: "x".repeat(100) })));
    await queue.enqueue(0, { delay: "1d" });
    expect((await queue.dequeue({ max: 10, maxBytes: 10 })).nextDueAt).toBe(START);
  });

  test("behind a task that travels alone", async () => {
    const queue = rig.queue();
    await fill(1);
    await queue.dequeue({ lease: 10 });
    rig.now += 10;
    await rig.sweepOnce();
    await fill(3, "more");
    const batch = await queue.dequeue({ max: 10 });
    expect([ids(batch), batch.nextDueAt]).toEqual([["t0"], rig.now]);
  });

  test("behind cancelled tasks, and due tasks are found behind them", async () => {
    const queue = rig.queue();
    await fill(2);
    await queue.enqueue(0, { id: "due", delay: 1_000 });
    await queue.cancel("t0");
    await queue.cancel("t1");
    expect((await queue.dequeue({ max: 2 })).nextDueAt).toBe(START + 1_000);
    await fill(1, "x");
    await queue.cancel("x0");
    rig.now += 2_000;
    expect(ids(await queue.dequeue())).toEqual(["due"]);
  });
});

describe("cancelled tasks", () => {
  test("do not block the tasks behind them", async () => {
    const queue = rig.queue();
    await fill(30);
    for (let i = 0; i < 28; i++) await queue.cancel(`t${i}`);
    expect(ids(await queue.dequeue())).toEqual(["t28"]);
    expect(ghostsOf(await rig.space())).toBe(0);
    expect(ids(await queue.dequeue({ max: 5 }))).toEqual(["t29"]);
  });

  test("do not block the task behind them, also more than one call drops", async () => {
    const queue = rig.queue();
    await fill(1_500);
    await Promise.all(Array.from({ length: 1_499 }, (_, i) => queue.cancel(`t${i}`)));
    const [task, ...others] = await queue.dequeue();
    expect([task?.id, others, (await rig.space()).pending]).toEqual(["t1499", [], []]);
  });
});

describe("bad input", () => {
  test.each([
    [{ max: 0 }, "max"],
    [{ max: 1_001 }, "max"],
    [{ max: 1.5 }, "max"],
    [{ lease: 0 }, "lease"],
    [{ lease: "soon" as never }, "lease"],
    [{ maxBytes: 0 }, "maxBytes"],
    [{ token: "short" }, "token"],
    [{ token: "has a space" }, "token"],
  ])("%j", async (options, path) => {
    await fill(1);
    const before = await rig.keySpace();
    await expect(rig.queue().dequeue(options)).rejects.toMatchObject({ code: "invalid_argument", path });
    expect(await rig.keySpace()).toEqual(before);
  });
});
