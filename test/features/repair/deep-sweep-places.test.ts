import { describe, expect, test } from "vitest";
import { deepTools } from "../../support/deep.ts";
import { numbered } from "../../support/new-tasks.ts";
import { key, QUEUE, START, useRig } from "../../support/rig.ts";

// Damage of one kind at a time. After each test the rig checks every invariant.
const rig = useRig();
const { runDeepSweep, found, enqueue, drained } = deepTools(rig);

describe("an id without a payload is removed, and blocks no task (I1)", () => {
  test("in each place", async () => {
    const places = ["fair", "limited", "working", "dead", "expiry", "delayed"];
    await enqueue("a");
    for (const place of places) await rig.command("ZADD", key(place), "7", `lost-${place}`);
    const lost = places.map((place) => `lost-${place}`).toSorted();
    expect(await found()).toEqual({ payload_missing: lost, control_broken: ["~fair"] });
    expect(await drained()).toEqual(["a"]);
  });

  test("in pending, between other tasks, which keep their order", async () => {
    await enqueue("a", "b", "c", "d");
    await rig.command("HDEL", key("tasks"), "b");
    await rig.command("RPUSH", key("pending"), "lost", "lost", "what ever it is \u0001");
    expect(await found()).toEqual({
      payload_missing: ["b", "lost", "what ever it is ?"],
    });
    expect(await rig.queue().counts()).toMatchObject({ pending: 3, broken: 0 });
    expect(await drained()).toEqual(["a", "c", "d"]);
    expect((await rig.space()).pending).toEqual([]);
  });

  test("in pending, also far behind in a long list", async () => {
    const ids = numbered(1_000).map(({ id }) => id);
    await enqueue(...ids);
    for (const [i, place] of ["t0", "t500", "t998"].entries()) {
      await rig.command("LINSERT", key("pending"), "BEFORE", place, `lost${i}`);
    }
    expect(await found()).toEqual({ payload_missing: ["lost0", "lost1", "lost2"] });
    expect(await drained()).toEqual(ids);
  });

  test("of a group, whose place the next task takes", async () => {
    await rig.operator().configureGroup("g", { maxWorking: 1 });
    await enqueue({ id: "a", group: "g" }, { id: "b", group: "g" }, { id: "c", group: "g" });
    await rig.command("HDEL", key("tasks"), "a", "b");
    expect(await found()).toMatchObject({ payload_missing: ["a", "b"], group_wrong: ["g"] });
    expect(await drained()).toEqual(["c"]);
  });

  test("of a delayed, a working and a rejected task; the rejected id stays known", async () => {
    await enqueue("w", "r", { id: "d", delay: 1_000 });
    const [working, rejected] = await rig.queue().dequeue({ max: 2, worker: { name: "worker" } });
    await rejected?.reject("no");
    await rig.command("HDEL", key("tasks"), "w", "r", "d");
    expect(await found()).toEqual({
      payload_missing: ["d", "w"],
      worker_lease_wrong: ["w"],
      wrong_place: ["r"],
      record_incomplete: ["r"],
    });
    expect(await working?.complete()).toMatchObject({ ok: false, code: "lease_lost" });
    expect(await rig.queue().enqueue("again", { id: "r" })).toMatchObject({ created: false });
    expect(await rig.queue().enqueue("again", { id: "w" })).toMatchObject({ created: true });
  });

  test("an expiry time of a missing dedup key is removed", async () => {
    await enqueue({ id: "a", dedup: { key: "k", window: "1h" } });
    await rig.command("HDEL", key("tasks"), "~d:k");
    expect(await found()).toEqual({ record_missing: ["~d:k"] });
  });
});

describe("a payload without a place gets one, by its record (law 10)", () => {
  test("pending: at the back of the list, once, also with several deep sweeps at once", async () => {
    await enqueue("a", "b", "c");
    await rig.command("LREM", key("pending"), "1", "a");
    const reports = await Promise.all([runDeepSweep(), runDeepSweep(), runDeepSweep()]);
    expect(reports.flatMap(({ faults }) => faults)).toEqual([
      { queue: QUEUE, fault: "place_missing", count: 1, ids: ["a"] },
    ]);
    expect((await rig.space()).pending).toEqual(["a", "c", "b"]);
    expect(await found()).toEqual({});
  });

  test("pending: all of them, if the whole list is lost", async () => {
    await rig.queue().enqueueMany(numbered(250));
    await rig.command("DEL", key("pending"));
    expect((await runDeepSweep()).faults).toMatchObject([{ fault: "place_missing", count: 250 }]);
    expect((await drained()).length).toBe(250);
  });

  test("of a group: in fair with a new tag, or held behind its limit", async () => {
    await rig.operator().configureGroup("g", { maxWorking: 1 });
    await enqueue({ id: "a", group: "g" }, { id: "b", group: "g" }, { id: "c", group: "h", priority: 4 });
    await rig.command("DEL", key("fair"), key("limited"));
    expect(await found()).toMatchObject({ place_missing: ["a", "b", "c"] });
    expect((await drained())[0]).toBe("c");
    expect(await rig.queue().counts()).toMatchObject({ pending: 0, working: 0, broken: 0 });
  });

  test("delayed: at the back of the list, because its time is lost", async () => {
    await enqueue({ id: "a", delay: 1_000 }, { id: "b", delay: 1_000, group: "g" });
    await rig.command("DEL", key("delayed"));
    expect(await found()).toEqual({ place_missing: ["a", "b"] });
    expect((await drained()).toSorted()).toEqual(["a", "b"]);
  });

  test("rejected: among the dead letters, to be redriven", async () => {
    await enqueue("a");
    await (await rig.queue().dequeue())[0]?.reject("no");
    await rig.command("DEL", key("dead"));
    expect(await found()).toEqual({ place_missing: ["a"] });
    expect(await rig.operator().redrive({ reason: "rejected" })).toMatchObject({ redriven: 1 });
    expect(await drained()).toEqual(["a"]);
  });

  test("ended: an expiry, by its ttl", async () => {
    await enqueue("a", "b", { id: "b3h", deadTtl: "3h" }, "c");
    const [a, b, b3h] = await rig.queue().dequeue({ max: 3 });
    await a?.complete("result");
    for (const task of [b, b3h]) await task?.reject("no", { ttl: "1h" });
    await rig.queue().cancel("c");
    await rig.command("DEL", key("expiry"));
    rig.now += 1_000;
    expect(await found()).toEqual({ expiry_missing: ["a", "b", "b3h", "c"] });
    const { expiry } = await rig.space();
    expect(Object.fromEntries(expiry)).toEqual({
      a: START + 3_600_000,
      b: START + 604_800_000,
      b3h: START + 10_800_000,
      c: START + 301_000,
    });
  });
});

describe("a task in two places keeps one, by its record, or the one that is delivered first", () => {
  test.each([
    ["twice in the list", "a", ["LPUSH", "pending", "a", "a"], "two_places"],
    [
      "in the list and in delayed, when it is due",
      "a",
      ["ZADD", "delayed", String(START), "a"],
      "two_places",
    ],
    ["in the list and in fair", "a", ["ZADD", "fair", "5066549580791808", "a"], "wrong_place"],
    ["in the list and working", "a", ["ZADD", "working", "9", "a"], "wrong_place"],
    ["in the list and among the dead letters", "a", ["ZADD", "dead", "9", "a"], "wrong_place"],
    ["in the list and to expire", "a", ["ZADD", "expiry", "9", "a"], "wrong_place"],
    ["in fair and in the list", "g", ["LPUSH", "pending", "g"], "two_places"],
    ["in fair and in delayed, when it is due", "g", ["ZADD", "delayed", `${START}.5`, "g"], "two_places"],
    ["in fair and working", "g", ["ZADD", "working", "9", "g"], "two_places"],
    ["working and in the list", "w", ["LPUSH", "pending", "w", "w"], "two_places"],
    ["working and in fair", "w", ["ZADD", "fair", "1", "w"], "two_places"],
    ["working and delayed", "w", ["ZADD", "delayed", "9", "w"], "two_places"],
    ["rejected and in the list", "r", ["RPUSH", "pending", "r"], "two_places"],
    ["rejected and working", "r", ["ZADD", "working", "9", "r"], "wrong_place"],
  ] as const)("%s", async (_, id, [command, part, ...args], fault) => {
    await enqueue("w", "r");
    const [working, rejected] = await rig.queue().dequeue({ max: 2 });
    await rejected?.reject("no");
    await enqueue("a", "b", { id: "g", group: "g" });
    const before = await rig.space();
    await rig.command(command, key(part), ...args);
    const { control_broken: _control, group_wrong: _group, ...faults } = await found();
    expect(faults).toEqual({ [fault]: [id] });
    const after = await rig.space();
    expect(after.pending.filter((entry) => entry !== "-")).toEqual(before.pending);
    for (const place of ["fair", "working", "delayed", "dead", "expiry"] as const)
      expect(after[place]).toEqual(before[place]);
    expect(await working?.complete()).toMatchObject({ ok: true });
    expect((await drained()).toSorted()).toEqual(["a", "b", "g"]);
  });

  test("in delayed, not due, and in the list: it stays delayed", async () => {
    await enqueue({ id: "a", delay: 1_000 }, "b");
    await rig.command("RPUSH", key("pending"), "a");
    expect(await found()).toEqual({ two_places: ["a"] });
    expect(await drained()).toEqual(["b"]);
    rig.now += 1_000;
    expect(await drained()).toEqual(["a"]);
  });

  test("hundreds of times in a long list: it keeps its place", async () => {
    const ids = numbered(300).map(({ id }) => id);
    await enqueue(...ids);
    await rig.command("LPUSH", key("pending"), ...ids.map((_, i) => `t${i % 7}`));
    await found();
    expect(await rig.queue().counts()).toMatchObject({ pending: 300 });
    expect(await drained()).toEqual(ids);
    expect(await rig.space()).toMatchObject({ pending: [] });
  });
});
