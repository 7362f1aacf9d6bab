import { afterEach, describe, expect, test } from "vitest";
import { Operator } from "../../../src/index.ts";
import { bury } from "../../support/dead-letters.ts";
import { ghostsOf } from "../../support/key-space.ts";
import { key, START, useRig } from "../../support/rig.ts";

const rig = useRig();
const WINDOW = 300_000;

async function completed(id = "a") {
  const queue = rig.queue();
  await queue.enqueue("payload", { id, idempotencyKey: "enqueue" });
  const [task] = await queue.dequeue({ token: "token-01" });
  await task?.complete({ secret: "result" });
  return { queue, task };
}

/** All entries of an id in the queue's keys. */
async function traces(id: string) {
  const { tasks, expiry, dead } = await rig.space();
  return {
    fixed: tasks.get(id),
    changing: tasks.get(`.${id}`),
    expiry: expiry.get(id),
    dead: dead.get(id),
  };
}

describe("remove deletes the record of an ended task", () => {
  test("with its result; within five minutes of its end a tombstone keeps the id known", async () => {
    const { queue } = await completed();
    rig.now += 1_000;
    expect(await rig.operator().remove("a")).toEqual({ ok: true });
    expect(await queue.get("a")).toBeNull();
    expect(await queue.cancel("a")).toEqual({ ok: false, code: "not_found" });
    const left = await traces("a");
    expect([left.fixed, left.expiry, left.dead]).toEqual(["", START + WINDOW, undefined]);
    expect(left.changing).not.toContain("secret");
    rig.now = START + WINDOW;
    await rig.sweepOnce();
    expect(await traces("a")).toEqual({});
  });

  test("of a dead letter with its payload and error, at once if its end is long past", async () => {
    await bury(rig.queue(), [{ id: "a", payload: "p" }]);
    rig.now += WINDOW;
    expect(await rig.operator().remove("a")).toEqual({ ok: true });
    expect(await traces("a")).toEqual({});
    expect((await rig.queue().counts()).rejected).toBe(0);
    expect((await rig.queue().enqueue("anew", { id: "a" })).created).toBe(true);
  });

  test("of a dead letter within five minutes, which then is no dead letter any more", async () => {
    await bury(rig.queue(), [{ id: "a", payload: "p" }]);
    expect(await rig.operator().remove("a")).toEqual({ ok: true });
    expect(await rig.operator().redrive()).toMatchObject({ redriven: 0, cursor: null });
    expect(await rig.operator().list({ state: "rejected" })).toMatchObject({ tasks: [] });
    expect(await traces("a")).toMatchObject({ fixed: "", expiry: START + WINDOW });
  });

  test("of a task without a result, and of a cancelled one", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([
      { id: "a", payload: 1, resultTtl: 0 },
      { id: "b", payload: 1 },
    ]);
    await (await queue.dequeue())[0]?.complete();
    await queue.cancel("b");
    for (const id of ["a", "b"]) expect(await rig.operator().remove(id)).toEqual({ ok: true });
    expect([await queue.get("a"), await queue.get("b")]).toEqual([null, null]);
    expect(ghostsOf(await rig.space())).toBe(1);
  });

  test("once: a second call returns the same and changes nothing, until the tombstone expires", async () => {
    await completed();
    expect(await rig.operator().remove("a")).toEqual({ ok: true });
    const before = await rig.keySpace();
    expect(await rig.operator().remove("a")).toEqual({ ok: true });
    expect(await rig.keySpace()).toEqual(before);
    rig.now += WINDOW;
    await rig.sweepOnce();
    expect(await rig.operator().remove("a")).toEqual({ ok: false, code: "not_found" });
  });

  test("once for several callers at once, who all get ok", async () => {
    await completed();
    await rig.operator().configure({ statistics: true });
    const reported = await Promise.all([1, 2, 3].map(() => rig.operator().remove("a")));
    expect(reported).toEqual([{ ok: true }, { ok: true }, { ok: true }]);
    expect((await rig.space()).tasks.get("~stats")).toMatch(/;deleted=1$/);
  });
});

describe("a late copy of an earlier request (law 5, I7)", () => {
  test("of the enqueue creates nothing and gets its old answer; another producer gets a duplicate", async () => {
    const { queue } = await completed();
    await rig.operator().remove("a");
    const before = await rig.keySpace();
    const again = await queue.enqueue("payload", { id: "a", idempotencyKey: "enqueue" });
    expect(again).toEqual({ id: "a", created: true });
    expect(await queue.enqueue("other", { id: "a" })).toEqual({ id: "a", created: false });
    expect(await rig.keySpace()).toEqual(before);
  });

  test("of the settlement gets its old answer, and of the dequeue leases nothing", async () => {
    const { queue, task } = await completed();
    await rig.operator().remove("a");
    expect(await task?.complete({ secret: "result" })).toMatchObject({ ok: true, state: "completed" });
    expect(await queue.dequeue({ token: "token-01" })).toHaveLength(0);
    expect(await queue.get("a")).toBeNull();
  });

  test("does not prevent a new life with `again`, whose version continues", async () => {
    const { queue } = await completed();
    const { version = 0 } = (await queue.get("a")) ?? {};
    await rig.operator().remove("a");
    expect((await queue.enqueue("anew", { id: "a", again: true })).created).toBe(true);
    expect((await queue.get("a"))?.version).toBeGreaterThan(version);
    expect((await queue.dequeue()).map(({ payload }) => payload)).toEqual(["anew"]);
  });
});

describe("remove is refused, with nothing changed (I3)", () => {
  afterEach(async () => rig.command("ACL", "SETUSER", "default", "+@all"));

  test("while the task is pending, delayed or working", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([
      { id: "working", payload: 1 },
      { id: "pending", payload: 1 },
      { id: "delayed", payload: 1, delay: 1_000 },
    ]);
    await queue.dequeue();
    const before = await rig.keySpace();
    for (const id of ["working", "pending", "delayed"]) {
      expect(await rig.operator().remove(id)).toEqual({ ok: false, code: "alive" });
    }
    expect(await rig.operator().remove("unknown")).toEqual({ ok: false, code: "not_found" });
    expect(await rig.keySpace()).toEqual(before);
  });

  test("on another queue", async () => {
    await completed();
    const other = new Operator("other", { transport: rig.transport, now: () => rig.now });
    const before = await rig.keySpace();
    expect(await other.remove("a")).toEqual({ ok: false, code: "not_found" });
    expect(await rig.keySpace()).toEqual(before);
  });

  test("for an invalid id, and for a record of a newer release", async () => {
    await completed();
    await expect(rig.operator().remove("~set")).rejects.toMatchObject({
      code: "invalid_argument",
      path: "id",
    });
    const record = (await rig.space()).tasks.get(".a") ?? "";
    await rig.command("HSET", key("tasks"), ".a", "2;x\n");
    const before = await rig.keySpace();
    await expect(rig.operator().remove("a")).rejects.toMatchObject({ code: "newer_schema" });
    expect(await rig.keySpace()).toEqual(before);
    await rig.command("HSET", key("tasks"), ".a", record);
  });

  test("by a Redis that cannot write records", async () => {
    await completed();
    await rig.command("ACL", "SETUSER", "default", "-hset");
    const before = await rig.keySpace();
    await expect(rig.operator().remove("a")).rejects.toMatchObject({ code: /redis/ });
    expect(await rig.keySpace()).toEqual(before);
  });
});

describe("a ghost of an earlier life outlives the record", () => {
  /** A dead letter whose earlier life left a ghost in the list. */
  async function haunted() {
    const queue = rig.queue();
    await queue.enqueueMany(["a", "b"].map((id) => ({ id, payload: id })));
    await queue.cancel("a");
    rig.now += WINDOW;
    await rig.sweepOnce();
    await queue.enqueue("anew", { id: "a", priority: 1 });
    const [task] = await queue.dequeue();
    await task?.reject("no");
    const space = await rig.space();
    expect([ghostsOf(space), space.pending, [...space.dead.keys()]]).toEqual([1, ["b", "a"], ["a"]]);
    return queue;
  }

  test.each([
    ["within", 0],
    ["after", WINDOW],
  ])("if it is removed %s five minutes of its end", async (_, later) => {
    const queue = await haunted();
    rig.now += later;
    expect(await rig.operator().remove("a")).toEqual({ ok: true });
    expect(await queue.get("a")).toBeNull();
    expect((await queue.dequeue({ max: 5 })).map(({ id }) => id)).toEqual(["b"]);
    rig.now += WINDOW;
    await rig.sweepOnce();
    expect(await traces("a")).toEqual({});
    expect(ghostsOf(await rig.space())).toBe(0);
  });

  test("if it expires: the payload is removed and the id is free", async () => {
    const queue = await haunted();
    rig.now += 7 * 86_400_000;
    await rig.sweepOnce();
    expect(await traces("a")).toMatchObject({ fixed: "" });
    expect((await queue.enqueue("third", { id: "a" })).created).toBe(true);
    expect((await queue.dequeue({ max: 5 })).map(({ payload }) => payload)).toEqual(["third", "b"]);
  });
});
