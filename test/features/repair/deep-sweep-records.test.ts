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

  test("a working task with a lease without its number, token or length, which no receipt can match, is reclaimed", async () => {
    await enqueue("number", "token", "length");
    await rig.queue().dequeue({ max: 3 });
    for (const [id, said, says] of [
      ["number", /;w;\d+;/, ";w;0;"],
      ["token", /(;w;\d+;)[^;]+;/, "$1;"],
      ["length", /(;w;\d+;[^;]+;\d+;)\d+/, "$1"],
    ] as const) {
      const record = String(await rig.command("HGET", key("tasks"), `.${id}`));
      expect(record).toMatch(said);
      await rig.command("HSET", key("tasks"), `.${id}`, record.replace(said, says));
    }
    expect(await found()).toEqual({ lease_missing: ["length", "number", "token"] });
    expect((await rig.space()).pending).toHaveLength(3);
    expect((await drained()).toSorted()).toEqual(["length", "number", "token"]);
  });

  test("an ended task that has its payload, or no record of its end, or only ghosts left, has ended, and stays known for five more minutes", async () => {
    await enqueue("a", "b", "c", "ghost", "d");
    const intact = (await rig.space()).tasks;
    await rig.queue().cancel("ghost");
    rig.now += 300_000;
    await rig.sweepOnce();
    await (await rig.queue().dequeue())[0]?.complete("result");
    await rig.queue().cancel("b");
    await (await rig.queue().dequeue())[0]?.complete("result");
    for (const id of ["a", "b", "ghost"]) await rig.command("HSET", key("tasks"), id, intact.get(id) ?? "");
    await rig.command("HDEL", key("tasks"), ".c");
    await rig.command("ZREM", key("expiry"), "c");
    expect(await found()).toEqual({ record_incomplete: ["a", "b", "c", "ghost"], expiry_missing: ["c"] });
    expect(await drained()).toEqual(["d"]);
    expect(await rig.queue().get("a")).toMatchObject({ state: "completed", result: "result" });
    expect(await rig.queue().enqueue(1, { id: "c" })).toMatchObject({ created: false });
    rig.now += 300_000;
    await rig.sweepOnce();
    expect(await rig.queue().enqueue(1, { id: "c" })).toMatchObject({ created: true });
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
  test("changing records: the tasks begin again", async () => {
    const records = ["1;nonsense", "x", "", "1;5;3", "1;1;1;1;1;q;1;;;\n"];
    const ids = records.map((_, i) => `a${i}`);
    await enqueue(...ids, "b");
    await rig.queue().dequeue({ max: 5 });
    for (const [i, record] of records.entries()) await rig.command("HSET", key("tasks"), `.a${i}`, record);
    const aside = ids.map((id) => `.${id}`);
    expect(await found()).toEqual({ record_broken: aside, wrong_place: ids, place_missing: ids });
    const kept = () => rig.command("HMGET", key("tasks"), ...aside.map((field) => `~b:${field}`));
    expect(await kept()).toEqual(records);
    const [first, ...rest] = await drained();
    expect([first, ...rest.toSorted()]).toEqual(["b", ...ids]);
    for (const [ms, left] of [
      [604_799_999, records],
      [1, records.map(() => null)],
    ] as const) {
      rig.now += ms;
      await rig.sweepOnce();
      expect(await kept()).toEqual(left);
    }
  });

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

  test("an entry with the name of a control field or of another task's record, and a field that names no task", async () => {
    await enqueue("a", "b");
    await rig.queue().dequeue();
    const names = ["~lease", ".a", "-", "~", ".", ""];
    await rig.command("RPUSH", key("pending"), ...names);
    for (const name of names) await rig.command("ZADD", key("working"), "5", name);
    const fields = ["..a", "junk", ".-", "junk", "no id", "1;5\nj1"];
    await rig.command("HSET", key("tasks"), ...fields);
    const before = await rig.space();
    expect(await found()).toMatchObject({ record_broken: ["..a", ".-", "no id"].toSorted() });
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

  test.each([
    ["without a number gets one", ""],
    ["with a number too large for the scores of limited gets one that fits", ";n=999999999"],
  ])("a group's limit %s", async (_, number) => {
    await enqueue({ id: "a", group: "g" });
    await rig.command("HSET", key("tasks"), "~s:g", `1;m=1${number}`, "~s:h", "1;m=1;n=4");
    expect(await found()).toEqual({ control_broken: ["~s:g"] });
    const [, given] = /;n=(\d+)/.exec((await rig.space()).tasks.get("~s:g") ?? "") ?? [];
    expect(Number(given)).toBeLessThan(134_217_728);
    await enqueue({ id: "b", group: "g" });
    expect((await rig.space()).limited.size).toBe(1);
    expect(await drained()).toEqual(["a", "b"]);
  });

  test("a group of which the number is large is as any other", async () => {
    await rig.command("HSET", key("tasks"), "~groups", "40000000");
    await rig.operator().configureGroup("g", { maxWorking: 1 });
    const ids = Array.from({ length: 6 }, (_, i) => `task-${i}`);
    await enqueue(...ids.map((id) => ({ id, group: "g" })));
    expect((await rig.space()).limited.size).toBe(5);
    expect(await found()).toEqual({});
    expect(await drained()).toEqual(ids);
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

test("a newer release's record is reported, and kept in any place (law 12)", async () => {
  await enqueue("a", "b", { id: "c", delay: 5 });
  await rig.queue().dequeue();
  await rig.command("HSET", key("tasks"), ".a", "2;new", "b", "2;new", ".c", "2;new");
  await rig.command("ZADD", key("dead"), "5", "b");
  const before = await rig.keySpace();
  const { faults } = await runDeepSweep();
  expect(faults).toMatchObject([{ fault: "record_newer", ids: ["a", "c", "b"] }]);
  expect(await rig.keySpace()).toEqual(before);
  await rig.command("HSET", key("tasks"), "~set", "3;new");
  expect(await runDeepSweep()).toMatchObject({
    failed: [{ queue: QUEUE, code: "newer_schema" }],
    cursor: null,
  });
  await rig.command("FLUSHALL");
});
