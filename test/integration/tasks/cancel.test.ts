import { describe, expect, test } from "vitest";
import { ghostsOf } from "../../support/key-space.ts";
import { START, useRig } from "../../support/rig.ts";

const rig = useRig();

describe("cancel", () => {
  test("of a pending task leaves a tombstone and a counted ghost, which dequeue drops (I1)", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([
      { payload: "p", id: "a" },
      { payload: "q", id: "b" },
    ]);
    expect(await queue.cancel("a")).toEqual({ ok: true, state: "rejected" });
    const space = await rig.space();
    expect([space.pending, space.tasks.get("a"), ghostsOf(space), space.dead.size]).toEqual([
      ["b", "a"],
      "",
      1,
      0,
    ]);
    expect([...space.expiry]).toEqual([["a", START + 300_000]]);
    expect(await queue.counts()).toMatchObject({ pending: 1, rejected: 0 });
    expect(await queue.get("a")).toMatchObject({ state: "rejected", reason: "cancelled" });
    expect((await queue.dequeue({ max: 5 })).map(({ id }) => id)).toEqual(["b"]);
    expect(ghostsOf(await rig.space())).toBe(0);
  });

  test("of a delayed task removes it at once, without a ghost", async () => {
    const queue = rig.queue();
    await queue.enqueue("p", { id: "a", delay: "1m" });
    expect(await queue.cancel("a")).toEqual({ ok: true, state: "rejected" });
    const space = await rig.space();
    expect([space.delayed.size, space.tasks.get("a"), space.tasks.has("~ghosts")]).toEqual([0, "", false]);
  });

  test.each([["extend"], ["requeue"], ["reject"], ["complete"]] as const)(
    "of a working task is reported to its holder at the next %s",
    async (outcome) => {
      const queue = rig.queue();
      await queue.enqueue("p", { id: "a" });
      const [task] = await queue.dequeue({ lease: 1_000 });
      expect(await queue.cancel("a")).toEqual({ ok: true, state: "working" });
      expect(await queue.get("a")).toMatchObject({ state: "working", cancelRequested: true });
      const [answer] = await queue.settle([{ receipt: task?.receipt ?? "", outcome }]);
      const ends = {
        extend: { state: "working", deadlineAt: START + 1_000 },
        requeue: { state: "rejected", reason: "cancelled" },
        reject: { state: "rejected", reason: "cancelled" },
        complete: { state: "completed" },
      }[outcome];
      expect(answer).toEqual({ receipt: task?.receipt, ok: true, cancelRequested: true, ...ends });
      expect((await rig.space()).dead.size).toBe(0);
    },
  );

  test("of a working task ends it as cancelled if its lease expires", async () => {
    const queue = rig.queue();
    await queue.enqueue("p", { id: "a" });
    await queue.dequeue({ lease: 1_000 });
    await queue.cancel("a");
    rig.now += 1_000;
    expect(await rig.sweepOnce()).toEqual(["ok", 0, 0, 1, 0, 0, 0, 0]);
    expect(await queue.get("a")).toMatchObject({ state: "rejected", reason: "cancelled" });
    expect(await queue.dequeue()).toHaveLength(0);
  });

  test("again returns the same and changes nothing; of an ended or unknown task is refused (I3)", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(["pending", "working", "done", "dead"].map((id) => ({ payload: id, id })));
    await queue.enqueue("d", { id: "delayed", delay: 1_000 });
    const [, working, done, dead] = await queue.dequeue({ max: 4 });
    await queue.settle([
      { receipt: done?.receipt ?? "", outcome: "complete" },
      { receipt: dead?.receipt ?? "", outcome: "reject" },
    ]);
    const cancelAll = async () => ({
      delayed: await queue.cancel("delayed"),
      working: await queue.cancel("working"),
      done: await queue.cancel("done"),
      dead: await queue.cancel("dead"),
      unknown: await queue.cancel("unknown"),
    });
    const first = await cancelAll();
    expect(first).toEqual({
      delayed: { ok: true, state: "rejected" },
      working: { ok: true, state: "working" },
      done: { ok: false, code: "already_ended" },
      dead: { ok: false, code: "already_ended" },
      unknown: { ok: false, code: "not_found" },
    });
    const before = await rig.keySpace();
    expect(await cancelAll()).toEqual(first);
    expect(await rig.keySpace()).toEqual(before);
    await working?.complete();
  });

  test("that Redis refuses keeps the task in its place", async () => {
    const queue = rig.queue();
    await queue.enqueue("p", { id: "later", delay: "1h" });
    await queue.enqueue("p", { id: "grouped", group: "g" });
    const before = await rig.keySpace();
    await rig.command("ACL", "SETUSER", "default", "-hset");
    try {
      for (const id of ["later", "grouped"]) {
        await expect(queue.cancel(id)).rejects.toMatchObject({ code: "redis_unauthorized" });
      }
    } finally {
      await rig.command("ACL", "SETUSER", "default", "+@all");
    }
    expect(await rig.keySpace()).toEqual(before);
  });

  test("with an expected lease number does not affect another life or lease", async () => {
    const queue = rig.queue();
    await queue.enqueue("p", { id: "a" });
    const [task] = await queue.dequeue();
    const before = await rig.keySpace();
    expect(await queue.cancel("a", { lease: 0 })).toEqual({ ok: false, code: "lease_lost" });
    expect(await rig.keySpace()).toEqual(before);
    const { lease } = (await queue.get("a")) ?? {};
    expect(await queue.cancel("a", { lease })).toEqual({ ok: true, state: "working" });
    await task?.complete();
  });
});

describe("an id that was cancelled while pending and is enqueued again", () => {
  async function cancelledAndForgotten() {
    const queue = rig.queue();
    await queue.enqueueMany([
      { payload: "old", id: "a" },
      { payload: "x", id: "b" },
    ]);
    await queue.cancel("a");
    expect(await queue.enqueue("early", { id: "a" })).toEqual({ id: "a", created: false });
    rig.now += 300_000;
    await rig.sweepOnce();
    expect(await queue.get("a")).toBeNull();
    expect(await queue.cancel("a")).toEqual({ ok: false, code: "not_found" });
    return queue;
  }

  test("takes the place of its ghost", async () => {
    const queue = await cancelledAndForgotten();
    expect(await queue.enqueue("new", { id: "a" })).toEqual({ id: "a", created: true });
    expect(ghostsOf(await rig.space())).toBe(0);
    const batch = await queue.dequeue({ max: 5 });
    expect(batch.map(({ id, payload, attempt }) => [id, payload, attempt])).toEqual([
      ["a", "new", 1],
      ["b", "x", 1],
    ]);
  });

  test("also in a batch", async () => {
    const queue = await cancelledAndForgotten();
    const made = await queue.enqueueMany([
      { payload: "c", id: "c" },
      { payload: "new", id: "a" },
    ]);
    expect(made.map(({ created }) => created)).toEqual([true, true]);
    expect((await queue.dequeue({ max: 5 })).map(({ payload }) => payload)).toEqual(["new", "x", "c"]);
  });

  test("with a delay is delivered once, when it is due, past its own ghost", async () => {
    const queue = await cancelledAndForgotten();
    await queue.enqueue("new", { id: "a", delay: 1_000 });
    expect((await queue.dequeue({ max: 5 })).map(({ id }) => id)).toEqual(["b"]);
    expect(ghostsOf(await rig.space())).toBe(0);
    rig.now += 1_000;
    expect((await queue.dequeue({ max: 5 })).map(({ payload }) => payload)).toEqual(["new"]);
  });

  test("with a delay that ends before its ghost is dropped, is in the list as a task and as a ghost", async () => {
    const queue = await cancelledAndForgotten();
    await queue.enqueue("new", { id: "a", delay: 1_000 });
    rig.now += 1_000;
    await rig.sweepOnce();
    expect((await rig.space()).pending).toEqual(["a", "b", "a"]);
    expect((await queue.dequeue({ max: 5 })).map(({ id, payload }) => [id, payload])).toEqual([
      ["b", "x"],
      ["a", "new"],
    ]);
  });

  test("loses nothing if its ghost is dropped in a hash that may not grow", async () => {
    const queue = await cancelledAndForgotten();
    await queue.enqueue("new", { id: "a", delay: 1_000 });
    const ghostOnly = (await rig.space()).tasks.get(".a") ?? "";
    await queue.dequeue({ max: 5 });
    expect(((await rig.space()).tasks.get(".a") ?? "").length).toBeLessThan(ghostOnly.length);
    rig.now += 1_000;
    expect((await queue.dequeue()).map(({ payload }) => payload)).toEqual(["new"]);
  });

  test("leaves two ghosts if cancelled again, each dropped once", async () => {
    const queue = await cancelledAndForgotten();
    await queue.enqueue("new", { id: "a", delay: 1_000 });
    rig.now += 1_000;
    await rig.sweepOnce();
    await queue.cancel("a");
    expect(ghostsOf(await rig.space())).toBe(2);
    expect(await queue.counts()).toMatchObject({ pending: 1 });
    expect((await queue.dequeue({ max: 5 })).map(({ id }) => id)).toEqual(["b"]);
    expect(ghostsOf(await rig.space())).toBe(0);
    rig.now += 300_000;
    await rig.sweepOnce();
    expect((await rig.space()).tasks.has("a")).toBe(false);
  });

  test("leaves no record if its tombstone has expired and its ghost is dropped", async () => {
    const queue = await cancelledAndForgotten();
    await queue.dequeue({ max: 5 });
    const { tasks } = await rig.space();
    expect([tasks.has("a"), tasks.has(".a")]).toEqual([false, false]);
  });
});
