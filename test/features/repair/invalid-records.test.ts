import { describe, expect, test } from "vitest";
import { named } from "../../support/new-tasks.ts";
import { key, START, useRig } from "../../support/rig.ts";

// What a release does with records that it did not write so: of other releases, or damaged by a failover.
const rig = useRig({ checkInvariants: false });

describe("a record of a newer release is left as it is (law 12)", () => {
  const newer = (field: string) => rig.command("HSET", key("tasks"), field, "2;x=y\nunknown");
  const refuses = async (run: () => Promise<unknown>) => {
    const before = await rig.keySpace();
    await expect(run()).rejects.toMatchObject({ code: "newer_schema" });
    expect(await rig.keySpace()).toEqual(before);
  };

  test.each(["b", ".b"])("%s: a call for that task is refused and changes nothing (I3)", async (field) => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "b"]));
    // Its entry stays in front of the other.
    await queue.cancel("a");
    await newer(field);
    await refuses(() => queue.dequeue({ max: 3 }));
    await refuses(() => queue.get("b"));
    await refuses(() => queue.cancel("b"));
    if (field === "b") {
      await refuses(() => queue.enqueue(1, { id: "b" }));
      await refuses(() => queue.enqueueMany([{ payload: 1 }, { payload: 1, id: "b" }]));
    }
  });

  test("of enqueues that share a request only its own is refused", async () => {
    const queue = rig.queue();
    await queue.enqueue("b", { id: "b" });
    await newer("b");
    const ends = await Promise.allSettled(["a", "b", "c"].map((id) => queue.enqueue(1, { id })));
    expect(ends).toMatchObject([
      { value: { id: "a", created: true } },
      { reason: { code: "newer_schema" } },
      { value: { id: "c", created: true } },
    ]);
    expect((await rig.space()).tasks.get("b")).toBe("2;x=y\nunknown");
  });

  test("dequeue returns the tasks before it, and it keeps its place", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "b", "c"]));
    await newer(".b");
    const batch = await queue.dequeue({ max: 3 });
    expect([batch.map(({ id }) => id), batch.nextDueAt]).toEqual([["a"], START]);
    expect((await rig.space()).pending).toEqual(["c", "b"]);
  });

  test("settle refuses it alone", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "b"]));
    const batch = await queue.dequeue({ max: 2 });
    await newer(".b");
    const answers = await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "complete" })));
    expect(answers).toMatchObject([{ ok: true }, { ok: false, code: "newer_schema" }]);
    const space = await rig.space();
    expect([[...space.working.keys()], space.tasks.get(".b")]).toEqual([["b"], "2;x=y\nunknown"]);
  });

  test("a sweep reclaims and expires the others and reports how many it left", async () => {
    const queue = rig.queue({ resultTtl: 0 });
    await queue.enqueueMany(named(["a", "b", "c", "d"]));
    const [, , c, d] = await queue.dequeue({ max: 4, lease: 10 });
    await c?.complete();
    await d?.complete();
    await newer(".b");
    await newer(".d");
    rig.now += 300_000;
    expect(await rig.sweepOnce()).toEqual(["ok", 0, 1, 0, 1, 0, 2, 0]);
    const space = await rig.space();
    const left = [space.pending, [...space.working.keys()], [...space.expiry.keys()]];
    expect(left).toEqual([["a"], ["b"], ["d"]]);
  });
});

describe("an entry of the list that is not deliverable is put aside and counted, never delivered (law 10)", () => {
  test("an id without a payload, a working one, and an ended one", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "b", "c", "lost"]));
    const [a, b] = await queue.dequeue({ max: 2 });
    await b?.complete();
    await rig.command("HDEL", key("tasks"), "lost");
    await rig.command("RPUSH", key("pending"), "a", "b");
    expect((await queue.dequeue({ max: 10 })).map(({ id }) => id)).toEqual(["c"]);
    expect(await queue.counts()).toMatchObject({ pending: 0, working: 2, broken: 3 });
    expect(await a?.complete()).toMatchObject({ ok: true });
  });

  test("a lease with a lost record returns as a first delivery", async () => {
    const queue = rig.queue();
    await queue.enqueue("p", { id: "a", maxAttempts: 3 });
    const [stale] = await queue.dequeue({ lease: 10 });
    await rig.command("HDEL", key("tasks"), ".a");
    rig.now += 10;
    const [task] = await queue.dequeue({ lease: 10 });
    expect(task).toMatchObject({ id: "a", payload: "p" });
    expect(await stale?.complete()).toMatchObject({ ok: false });
    expect(await queue.get("a")).toMatchObject({ state: "working", attempt: 1, charged: 1 });
  });

  test("invalid records harm no other task: without its fixed record a task is put aside, without the changing one it begins again", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "b", "c", "d"]));
    await rig.command("HSET", key("tasks"), "b", "1;nonsense", ".c", "1;nonsense", ".d", "1;;;;;;;;;\n");
    const batch = await queue.dequeue({ max: 10 });
    expect(batch.map(({ id, attempt }) => `${id} ${attempt}`)).toEqual(["a 1", "c 1", "d 1"]);
    expect(await queue.counts()).toMatchObject({ pending: 0, working: 3, broken: 1 });
    for (const task of batch) expect(await task.complete()).toMatchObject({ ok: true });
  });

  test("an invalid number of expired leases, ghosts, allowed attempts or times to live counts as absent (law 11)", async () => {
    const queue = rig.queue();
    const ids = ["a", "expired", "ghosts", "attempts", "times", "b"];
    await queue.enqueueMany(named(ids));
    const fields = {
      ".expired": "1;1;5;0;0;;0;;;;x=abc\n",
      ".ghosts": "1;1;5;0;0;;0;;;;g=abc\n",
      attempts: '1;5;m=x\nj"b"',
      times: '1;5;r=x;d=x\nj"b"',
    };
    for (const [field, record] of Object.entries(fields))
      await rig.command("HSET", key("tasks"), field, record);
    const batch = await queue.dequeue({ max: 6, lease: 10 });
    expect(batch.map(({ id }) => id)).toEqual(ids);
    rig.now += 10;
    expect(await rig.sweepOnce()).toEqual(["ok", 0, 6, 0, 0, 0, 0, 0]);
    // A task whose lease expired travels alone.
    for (let i = 0; i < 6; i++)
      expect(await (await queue.dequeue({ max: 2 }))[0]?.complete()).toMatchObject({ ok: true });
    rig.now += 3_600_000;
    expect(await rig.sweepOnce()).toEqual(["ok", 0, 0, 0, 6, 0, 0, 0]);
  });

  test("a record that is cut off does not count as a newer release's: the queue continues", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "b", "c", "d", "e", "f"]));
    await rig.command("HSET", key("tasks"), "b", "1", "c", "=", "d", "", "e", "x;y");
    expect((await queue.dequeue({ max: 6 })).map(({ id }) => id)).toEqual(["a", "f"]);
    expect(await queue.counts()).toMatchObject({ pending: 0, working: 2, broken: 4 });
  });

  test.each([
    ["payload", "1;5\nsecret"],
    ["headers", "1;5;h=6\nsecretj1"],
  ])(
    "a task with unreadable %s is left out of its batch, and no error shows its content",
    async (_, record) => {
      const queue = rig.queue({ maxAttempts: 1 });
      await queue.enqueueMany(named(["a", "b", "c"]));
      await rig.command("HSET", key("tasks"), "b", record);
      const batch = await queue.dequeue({ max: 3 });
      expect(batch.map(({ id }) => id)).toEqual(["a", "c"]);
      await rig.command("HSET", key("tasks"), "d", record);
      await rig.command("LPUSH", key("pending"), "d");
      const error = await queue.dequeue().catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: "unexpected_reply" });
      expect(String(error)).not.toContain("secret");
    },
  );

  test("an invalid lease counter is an error, and every task keeps its place", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "b", "c"]));
    await rig.command("HSET", key("tasks"), "~lease", "many");
    const before = await rig.keySpace();
    await expect(queue.dequeue({ max: 3 })).rejects.toMatchObject({ code: "redis_error" });
    expect(await rig.keySpace()).toEqual(before);
  });

  test.each(["working", "tasks"])(
    "%s of the wrong type fails each call that needs it, which leases nothing and loses nothing",
    async (part) => {
      const queue = rig.queue();
      await queue.enqueueMany(named(["a", "b", "c"]));
      await rig.command("DEL", key(part));
      await rig.command("SET", key(part), "text");
      const before = await rig.keySpace();
      await expect(queue.dequeue({ max: 2 })).rejects.toMatchObject({ code: "redis_error" });
      if (part === "tasks") {
        await expect(queue.enqueue("q")).rejects.toMatchObject({ code: "redis_error" });
        await expect(queue.get("a")).rejects.toMatchObject({ code: "redis_error" });
      }
      expect(await rig.keySpace()).toEqual(before);
    },
  );

  test("an expiry time of a live task with ghosts removes nothing of it", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["first", "a"]));
    await queue.cancel("a");
    await queue.enqueue("again", { id: "a", again: true, group: "g" });
    await rig.command("ZADD", key("expiry"), "5", "a");
    await rig.sweepOnce();
    expect((await queue.dequeue({ max: 5 })).map(({ payload }) => payload)).toEqual(["first", "again"]);
  });
});

test("an id whose changing record is lost begins again if `again` allows it", async () => {
  const queue = rig.queue();
  await queue.enqueue("first", { id: "a" });
  const [task] = await queue.dequeue();
  await task!.complete();
  await rig.command("HDEL", key("tasks"), ".a");
  await expect(queue.enqueue("second", { id: "a", again: true })).resolves.toMatchObject({ created: true });
  const [again] = await queue.dequeue();
  expect(again).toMatchObject({ id: "a", payload: "second", attempt: 1 });
});
