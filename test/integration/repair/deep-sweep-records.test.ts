import { describe, expect, test } from "vitest";
import { deepTools } from "../../support/deep.ts";
import { key, QUEUE, START, useRig } from "../../support/rig.ts";

// Damage of one kind at a time. After each test the rig checks every invariant.
const rig = useRig();
const { runDeepSweep, found, enqueue, drained } = deepTools(rig);

describe("if record and place disagree, the record is right (I2)", () => {
  test("a working task without a lease is reclaimed to the front, or becomes a dead letter", async () => {
    await enqueue("a", { id: "last", maxAttempts: 1 }, { id: "g", group: "g" }, "b");
    const batch = await rig.queue().dequeue({ max: 3, worker: { name: "worker" } });
    expect(batch.map(({ id }) => id).toSorted()).toEqual(["a", "g", "last"]);
    await rig.command("DEL", key("working"));
    expect(await found()).toEqual({ lease_missing: ["a", "g", "last"] });
    for (const task of batch) expect(await task.complete()).toMatchObject({ ok: false, code: "lease_lost" });
    expect(await rig.queue().get("last")).toMatchObject({ state: "rejected", reason: "lease_expired" });
    expect((await rig.space()).pending).toEqual(["b", "a"]);
    expect((await drained()).toSorted()).toEqual(["a", "b", "g"]);
  });

  test.each([
    ["number", /;w;1;/, ";w;0;"],
    ["token", /;w;1;[^;]+;/, ";w;1;;"],
    ["length", /(;w;1;[^;]+;\d+;)\d+/, "$1"],
  ])(
    "a working task with a lease without its %s, which no receipt can match, is reclaimed",
    async (_, said, says) => {
      await enqueue("a");
      await rig.queue().dequeue();
      const record = String(await rig.command("HGET", key("tasks"), ".a"));
      expect(record).toMatch(said);
      await rig.command("HSET", key("tasks"), ".a", record.replace(said, says));
      expect(await found()).toEqual({ lease_missing: ["a"] });
      expect((await rig.space()).pending).toEqual(["a"]);
      expect(await drained()).toEqual(["a"]);
    },
  );

  test("a completed or cancelled task that still has its payload has ended", async () => {
    await enqueue("a", "b");
    const fixed = String(await rig.command("HGET", key("tasks"), "a"));
    await (await rig.queue().dequeue())[0]?.complete("result");
    await rig.queue().cancel("b");
    await rig.command("HSET", key("tasks"), "a", fixed, "b", fixed);
    expect(await found()).toEqual({ record_incomplete: ["a", "b"] });
    expect(await drained()).toEqual([]);
    expect(await rig.queue().get("a")).toMatchObject({ state: "completed", result: "result" });
  });

  test("an ended task without a record of its end stays known for five more minutes", async () => {
    await enqueue("a");
    await (await rig.queue().dequeue())[0]?.complete("result");
    await rig.command("HDEL", key("tasks"), ".a");
    await rig.command("ZREM", key("expiry"), "a");
    expect(await found()).toEqual({ record_incomplete: ["a"], expiry_missing: ["a"] });
    expect(await rig.queue().enqueue(1, { id: "a" })).toMatchObject({ created: false });
    rig.now += 300_000;
    await rig.sweepOnce();
    expect(await rig.queue().enqueue(1, { id: "a" })).toMatchObject({ created: true });
  });

  test("a task among another group's tasks, or among plain ones, moves to its own place", async () => {
    await rig.operator().configureGroup("g", { maxWorking: 1 });
    await enqueue({ id: "a", group: "g" }, { id: "b", group: "g" }, { id: "c", priority: 3 }, "d");
    await rig.command("ZADD", key("limited"), "5", "b");
    await rig.command("ZADD", key("fair"), "5", "c", "9", "d");
    await rig.command("LREM", key("pending"), "1", "d");
    expect(await found()).toMatchObject({ wrong_place: ["b", "c", "d"], place_missing: ["b", "c", "d"] });
    expect((await drained())[0]).toBe("c");
  });

  test("a delayed task gets back the mark of its group, or loses a wrong one", async () => {
    await enqueue({ id: "plain", delay: 10 }, { id: "grouped", delay: 10, group: "g" });
    await rig.command("ZADD", key("delayed"), `${START + 10}.5`, "plain", String(START + 10), "grouped");
    await rig.command("HDEL", key("tasks"), ".grouped");
    expect(await found()).toEqual({ time_broken: ["grouped", "plain"], record_incomplete: ["grouped"] });
    rig.now += 10;
    await rig.sweepOnce();
    const { pending, fair } = await rig.space();
    expect([pending, [...fair.keys()]]).toEqual([["plain"], ["grouped"]]);
  });

  test("times that never come become now", async () => {
    await enqueue("w", "c", { id: "d", delay: 10 });
    const [w, c] = await rig.queue().dequeue({ max: 2 });
    await c?.complete();
    await rig.command("ZADD", key("working"), "+inf", "w");
    await rig.command("ZADD", key("delayed"), "inf", "d");
    await rig.command("ZADD", key("expiry"), "1e300", "c");
    expect(await found()).toEqual({ time_broken: ["c", "d", "w"] });
    expect((await drained()).toSorted()).toEqual(["d", "w"]);
    expect(await w?.complete()).toMatchObject({ ok: false });
    expect((await rig.space()).expiry.get("c")).toBe(START + 3_600_000);
  });
});

describe("an unreadable record is kept apart for seven days (law 10)", () => {
  test.each(["1;nonsense", "x", "", "1;5;3", "1;1;1;1;1;q;1;;;\n"])(
    "a changing record %j: the task begins again",
    async (record) => {
      await enqueue("a", "b");
      await rig.queue().dequeue();
      await rig.command("HSET", key("tasks"), ".a", record);
      expect(await found()).toEqual({ record_broken: [".a"], wrong_place: ["a"], place_missing: ["a"] });
      expect(await rig.command("HGET", key("tasks"), "~b:.a")).toBe(record);
      expect(await drained()).toEqual(["b", "a"]);
      rig.now += 604_800_000;
      await rig.sweepOnce();
      expect(await rig.command("HEXISTS", key("tasks"), "~b:.a")).toBe(0);
    },
  );

  test.each(["pending", "delayed", "working", "rejected", "completed"])(
    "a fixed record of a %s task: the task is removed",
    async (state) => {
      await enqueue("a", { id: "b", delay: state === "delayed" ? 5 : 0 }, "c");
      const batch = state === "pending" || state === "delayed" ? [] : await rig.queue().dequeue({ max: 2 });
      if (state === "completed") await batch[1]?.complete();
      if (state === "rejected") await batch[1]?.reject("no");
      await batch[0]?.requeue();
      await rig.command("HSET", key("tasks"), "b", "1;nonsense");
      const { record_broken: broken } = await found();
      expect(broken).toContain("b");
      expect(await rig.command("HGET", key("tasks"), "~b:b")).toBe("1;nonsense");
      rig.now += 300_000;
      expect((await drained()).toSorted()).toEqual(["a", "c"]);
      const known = state === "rejected" || state === "completed";
      expect(await rig.queue().enqueue(1, { id: "b" })).toMatchObject({ created: !known });
    },
  );

  test("a field that names no task", async () => {
    await enqueue("a");
    await rig.command("HSET", key("tasks"), "no id", "1;5\nj1", ".-", "junk");
    expect(await found()).toMatchObject({ record_broken: [".-", "no id"] });
    expect(await drained()).toEqual(["a"]);
  });

  test("an entry with the name of a control field, or of another task's record", async () => {
    await enqueue("a", "b");
    await rig.queue().dequeue();
    const names = ["~lease", ".a", "-", "~", ".", ""];
    await rig.command("RPUSH", key("pending"), ...names);
    for (const name of names) await rig.command("ZADD", key("working"), "5", name);
    await rig.command("HSET", key("tasks"), "..a", "junk");
    const before = await rig.space();
    expect(await found()).toMatchObject({ record_broken: ["..a"] });
    const after = await rig.space();
    expect([...after.working.keys()]).toEqual(["a"]);
    for (const field of ["~lease", ".a"]) expect(after.tasks.get(field)).toBe(before.tasks.get(field));
    expect(await drained()).toEqual(["b"]);
  });

  test("settings: the queue and its groups continue without them", async () => {
    await rig.operator().configureGroup("g", { maxWorking: 1 });
    await enqueue({ id: "a", group: "g" }, { id: "b", group: "g" });
    await rig.command("HSET", key("tasks"), "~set", "1;m=many", "~s:g", "1;m=1;n=1;r=fast");
    const { faults } = await runDeepSweep();
    expect(faults.find(({ fault }) => fault === "record_broken")?.ids).toEqual(["~set", "~s:g"]);
    // The held tasks were checked before the settings. Without a limit they no longer belong there.
    expect(await found()).toMatchObject({ wrong_place: ["b"], place_missing: ["b"] });
    expect(await drained()).toEqual(["a", "b"]);
  });

  test("a group's limit without a number gets one", async () => {
    await enqueue({ id: "a", group: "g" });
    await rig.command("HSET", key("tasks"), "~s:g", "1;m=1", "~s:h", "1;m=1;n=4");
    expect(await found()).toEqual({ control_broken: ["~s:g"] });
    await enqueue({ id: "b", group: "g" });
    expect((await rig.space()).limited.size).toBe(1);
    expect(await drained()).toEqual(["a", "b"]);
  });

  test("a group's number too large for the scores of limited is replaced by one that fits", async () => {
    await enqueue({ id: "a", group: "g" });
    await rig.command("HSET", key("tasks"), "~s:g", "1;m=1;n=999999");
    expect(await found()).toEqual({ control_broken: ["~s:g"] });
    const [, number] = /;n=(\d+)/.exec((await rig.space()).tasks.get("~s:g") ?? "") ?? [];
    expect(Number(number)).toBeLessThan(131_071);
    await enqueue({ id: "b", group: "g" });
    expect((await rig.space()).limited.size).toBe(1);
    expect(await drained()).toEqual(["a", "b"]);
  });
});

test("a group with a task of a newer release is not counted (law 12)", async () => {
  await enqueue({ id: "a", group: "g" }, { id: "b", group: "g" });
  await rig.queue().dequeue();
  const record = String(await rig.command("HGET", key("tasks"), ".a"));
  await rig.command("HSET", key("tasks"), ".a", "2;new");
  const before = await rig.keySpace();
  for (const cursor of [undefined, `${QUEUE}/tasks/0`]) {
    expect((await runDeepSweep({ cursor })).faults).toMatchObject([{ fault: "record_newer", ids: ["a"] }]);
    expect(await rig.keySpace()).toEqual(before);
  }
  await rig.command("HSET", key("tasks"), ".a", record);
});

test("the turn and the worker lease of a newer release's task are kept (law 12)", async () => {
  await enqueue("leased", { id: "grouped", group: "g" });
  await rig.queue().dequeue({ worker: { name: "w" } });
  for (const [field, place] of [
    ["grouped", "fairByGroup"],
    [".leased", "workerLeases"],
  ] as const) {
    const record = String(await rig.command("HGET", key("tasks"), field));
    await rig.command("HSET", key("tasks"), field, "2;new");
    const before = await rig.keySpace();
    expect((await rig.space())[place].size).toBe(1);
    expect((await runDeepSweep()).faults).toMatchObject([{ fault: "record_newer" }]);
    expect(await rig.keySpace()).toEqual(before);
    await rig.command("HSET", key("tasks"), field, record);
  }
});

test("a payload of an id that has only ghosts left is removed", async () => {
  await enqueue("a", "b");
  const fixed = String(await rig.command("HGET", key("tasks"), "a"));
  await rig.queue().cancel("a");
  rig.now += 300_000;
  await rig.sweepOnce();
  await rig.command("HSET", key("tasks"), "a", fixed);
  expect(await found()).toEqual({ record_incomplete: ["a"] });
  expect(await drained()).toEqual(["b"]);
});

test("a newer release's record is reported, and kept in any place (law 12)", async () => {
  await enqueue("a", "b", { id: "c", delay: 5 });
  await rig.queue().dequeue();
  await rig.command("HSET", key("tasks"), ".a", "2;new", "b", "2;new", ".c", "2;new");
  await rig.command("ZADD", key("dead"), "5", "b");
  const before = await rig.keySpace();
  const { faults } = await runDeepSweep();
  expect(faults).toMatchObject([{ fault: "record_newer", ids: ["a", "c", "b"] }]);
  expect(await rig.keySpace()).toEqual(before);
  await rig.command("HSET", key("tasks"), "~set", "2;new");
  expect(await runDeepSweep()).toMatchObject({
    failed: [{ queue: QUEUE, code: "newer_schema" }],
    cursor: null,
  });
  await rig.command("FLUSHALL");
});
