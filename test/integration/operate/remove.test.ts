import { afterEach, describe, expect, test } from "vitest";
import { bury } from "../../support/dead-letters.ts";
import { ghostsOf } from "../../support/key-space.ts";
import { named } from "../../support/new-tasks.ts";
import { key, START, useRig } from "../../support/rig.ts";

const rig = useRig();
const WINDOW = 300_000;

async function completed() {
  const queue = rig.queue();
  await queue.enqueue("payload", { id: "a", idempotencyKey: "enqueue" });
  const [task] = await queue.dequeue({ token: "token-01" });
  await task?.complete({ secret: "result" });
  return { queue, task };
}

/** All entries of an id in the queue's keys. */
async function traces(id: string) {
  const { tasks, expiry, dead } = await rig.space();
  return { fixed: tasks.get(id), changing: tasks.get(`.${id}`), expiry: expiry.get(id), dead: dead.get(id) };
}

describe("remove deletes the record of an ended task", () => {
  test("with its result; within five minutes of its end a tombstone keeps the id known", async () => {
    const { queue } = await completed();
    rig.now += 1_000;
    expect(await rig.operator().remove("a")).toEqual({ ok: true });
    expect(await queue.get("a")).toBeNull();
    expect(await queue.cancel("a")).toEqual({ ok: false, code: "not_found" });
    const { changing, ...left } = await traces("a");
    expect(left).toEqual({ fixed: "", expiry: START + WINDOW, dead: undefined });
    expect(changing).not.toContain("secret");
    const before = await rig.keySpace();
    expect(await rig.operator().remove("a")).toEqual({ ok: true });
    expect(await rig.keySpace()).toEqual(before);
    rig.now = START + WINDOW;
    await rig.sweepOnce();
    expect(await traces("a")).toEqual({});
    expect(await rig.operator().remove("a")).toEqual({ ok: false, code: "not_found" });
  });

  test("of a dead letter with its payload and error, at once if its end is long past", async () => {
    await bury(rig.queue(), named(["a"]));
    rig.now += WINDOW;
    await bury(rig.queue(), named(["b"]));
    for (const id of ["a", "b"]) expect(await rig.operator().remove(id)).toEqual({ ok: true });
    expect(await traces("a")).toEqual({});
    expect(await traces("b")).toMatchObject({ fixed: "", expiry: START + 2 * WINDOW });
    expect(await rig.operator().redrive()).toMatchObject({ redriven: 0, cursor: null });
    expect((await rig.queue().counts()).rejected).toBe(0);
    expect((await rig.queue().enqueue("anew", { id: "a" })).created).toBe(true);
  });
});

test("a late copy of an earlier request gets its old answer, and another producer a duplicate, until a new life (law 5, I7)", async () => {
  const { queue, task } = await completed();
  const { version = 0 } = (await queue.get("a")) ?? {};
  await rig.operator().remove("a");
  const before = await rig.keySpace();
  const again = await queue.enqueue("payload", { id: "a", idempotencyKey: "enqueue" });
  expect(again).toEqual({ id: "a", created: true });
  expect(await queue.enqueue("other", { id: "a" })).toEqual({ id: "a", created: false });
  expect(await task?.complete({ secret: "result" })).toMatchObject({ ok: true, state: "completed" });
  expect(await rig.keySpace()).toEqual(before);
  expect(await queue.dequeue({ token: "token-01" })).toHaveLength(0);
  expect(await queue.get("a")).toBeNull();
  expect((await queue.enqueue("anew", { id: "a", again: true })).created).toBe(true);
  expect((await queue.get("a"))?.version).toBeGreaterThan(version);
  expect((await queue.dequeue()).map(({ payload }) => payload)).toEqual(["anew"]);
});

describe("remove is refused, with nothing changed (I3)", () => {
  afterEach(async () => rig.command("ACL", "SETUSER", "default", "+@all"));

  test("for an invalid id, for a record of a newer release, and by a Redis that cannot write records", async () => {
    await completed();
    const record = (await rig.space()).tasks.get(".a") ?? "";
    const refused = async (id: string, error: object) => {
      const before = await rig.keySpace();
      await expect(rig.operator().remove(id)).rejects.toMatchObject(error);
      expect(await rig.keySpace()).toEqual(before);
    };
    await refused("~set", { code: "invalid_argument", path: "id" });
    await rig.command("HSET", key("tasks"), ".a", "2;x\n");
    await refused("a", { code: "newer_schema" });
    await rig.command("HSET", key("tasks"), ".a", record);
    await rig.command("ACL", "SETUSER", "default", "-hset");
    await refused("a", { code: /redis/ });
  });
});

describe("a ghost of an earlier life outlives the record", () => {
  /** A dead letter whose earlier life left a ghost in the list. */
  async function haunted() {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "b"]));
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
