import { beforeEach, describe, expect, test } from "vitest";
import type { Queue } from "../../../src/index.ts";
import { ghostsOf } from "../../support/key-space.ts";
import { leasing } from "../../support/leasing.ts";
import { named } from "../../support/new-tasks.ts";
import { START, useRig } from "../../support/rig.ts";

const rig = useRig();
const leased = leasing(rig);
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));

describe("cancel", () => {
  test("of a pending task leaves a tombstone and a counted ghost, which dequeue drops (I1)", async () => {
    await queue.enqueueMany(named(["a", "b"]));
    expect(await queue.cancel("a")).toEqual({ ok: true, state: "rejected" });
    const { pending, tasks, dead, expiry } = await rig.space();
    expect([pending, tasks.get("a"), dead.size, [...expiry]]).toEqual([
      ["b", "a"],
      "",
      0,
      [["a", START + 300_000]],
    ]);
    expect(ghostsOf(await rig.space())).toBe(1);
    expect(await queue.counts()).toMatchObject({ pending: 1, rejected: 0 });
    expect(await queue.get("a")).toMatchObject({ state: "rejected", reason: "cancelled" });
    expect((await queue.dequeue({ max: 5 })).map(({ id }) => id)).toEqual(["b"]);
    expect(ghostsOf(await rig.space())).toBe(0);
  });

  test.each([
    ["extend", { state: "working", deadlineAt: START + 1_000 }],
    ["requeue", { state: "rejected", reason: "cancelled" }],
    ["reject", { state: "rejected", reason: "cancelled" }],
    ["complete", { state: "completed" }],
  ] as const)("of a working task is reported to its holder at the next %s", async (outcome, ends) => {
    const { task } = await leased();
    expect(await queue.cancel("a")).toEqual({ ok: true, state: "working" });
    expect(await queue.get("a")).toMatchObject({ state: "working", cancelRequested: true });
    const answer = { receipt: task.receipt, ok: true, cancelRequested: true, ...ends };
    expect(await task[outcome]()).toEqual(answer);
    expect((await rig.space()).dead.size).toBe(0);
  });

  test("again returns the same and changes nothing; of an ended or unknown task is refused (I3)", async () => {
    await queue.enqueueMany(named(["pending", "working", "done", "dead"]));
    await queue.enqueue("d", { id: "delayed", delay: 1_000 });
    const [, working, done, dead] = await queue.dequeue({ max: 4 });
    await done?.complete();
    await dead?.reject();
    const ids = ["delayed", "working", "done", "dead", "unknown"];
    const cancelAll = () => Promise.all(ids.map((id) => queue.cancel(id)));
    const first = await cancelAll();
    expect(first).toEqual([
      { ok: true, state: "rejected" },
      { ok: true, state: "working" },
      { ok: false, code: "already_ended" },
      { ok: false, code: "already_ended" },
      { ok: false, code: "not_found" },
    ]);
    const before = await rig.keySpace();
    expect(await cancelAll()).toEqual(first);
    expect(await rig.keySpace()).toEqual(before);
    await working?.complete();
  });

  test("that Redis refuses keeps the task in its place", async () => {
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
    const { task } = await leased();
    const before = await rig.keySpace();
    expect(await queue.cancel("a", { lease: 0 })).toEqual({ ok: false, code: "lease_lost" });
    expect(await rig.keySpace()).toEqual(before);
    const { lease } = (await queue.get("a")) ?? {};
    expect(await queue.cancel("a", { lease })).toEqual({ ok: true, state: "working" });
    await task.complete();
  });
});

describe("an id that was cancelled while pending and is enqueued again", () => {
  // Its tombstone has expired, and its ghost is still in the list, in front of b.
  beforeEach(async () => {
    await queue.enqueueMany(named(["a", "b"]));
    await queue.cancel("a");
    expect(await queue.enqueue("early", { id: "a" })).toEqual({ id: "a", created: false });
    rig.now += 300_000;
    await rig.sweepOnce();
    expect(await queue.get("a")).toBeNull();
    expect(await queue.cancel("a")).toEqual({ ok: false, code: "not_found" });
  });

  const delivered = async () =>
    (await queue.dequeue({ max: 5 })).map(({ id, payload, attempt }) => [id, payload, attempt]);

  test("takes the place of its ghost, also in a batch", async () => {
    const made = await queue.enqueueMany([...named(["c"]), { payload: "new", id: "a" }]);
    expect(made.map(({ created }) => created)).toEqual([true, true]);
    expect(ghostsOf(await rig.space())).toBe(0);
    expect(await delivered()).toEqual([
      ["a", "new", 1],
      ["b", "b", 1],
      ["c", "c", 1],
    ]);
  });

  test("with a delay is delivered once, when it is due, past its own ghost, in a hash that may not grow", async () => {
    await queue.enqueue("new", { id: "a", delay: 1_000 });
    const ghostOnly = (await rig.space()).tasks.get(".a") ?? "";
    expect(await delivered()).toEqual([["b", "b", 1]]);
    expect(ghostsOf(await rig.space())).toBe(0);
    expect(((await rig.space()).tasks.get(".a") ?? "").length).toBeLessThan(ghostOnly.length);
    rig.now += 1_000;
    expect(await delivered()).toEqual([["a", "new", 1]]);
  });

  test("with a delay that ends before its ghost is dropped, is in the list as a task and as a ghost", async () => {
    await queue.enqueue("new", { id: "a", delay: 1_000 });
    rig.now += 1_000;
    await rig.sweepOnce();
    expect((await rig.space()).pending).toEqual(["a", "b", "a"]);
    expect(await delivered()).toEqual([
      ["b", "b", 1],
      ["a", "new", 1],
    ]);
  });

  test("leaves two ghosts if cancelled again, each dropped once", async () => {
    await queue.enqueue("new", { id: "a", delay: 1_000 });
    rig.now += 1_000;
    await rig.sweepOnce();
    await queue.cancel("a");
    expect(ghostsOf(await rig.space())).toBe(2);
    expect(await queue.counts()).toMatchObject({ pending: 1 });
    expect(await delivered()).toEqual([["b", "b", 1]]);
    expect(ghostsOf(await rig.space())).toBe(0);
    rig.now += 300_000;
    await rig.sweepOnce();
    expect((await rig.space()).tasks.has("a")).toBe(false);
  });
});
