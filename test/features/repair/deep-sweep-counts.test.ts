import { describe, expect, test } from "vitest";
import { deepTools } from "../../support/deep.ts";
import { numbered } from "../../support/new-tasks.ts";
import { key, useRig } from "../../support/rig.ts";

// Damage of one kind at a time. After each test the rig checks every invariant.
const rig = useRig();
const { found, enqueue, drained } = deepTools(rig);

describe("a deep sweep repairs", () => {
  test("the count of ghosts of one id, and of all", async () => {
    await enqueue("a", "b", "c", "d");
    for (const id of ["a", "b", "c"]) await rig.queue().cancel(id);
    await rig.command("LREM", key("pending"), "1", "a");
    expect(await found()).toEqual({ ghosts_wrong: ["a"] });
    await rig.command("HSET", key("tasks"), "~ghosts", "17");
    expect(await found()).toEqual({ ghosts_wrong: ["~ghosts"] });
    await rig.command("HDEL", key("tasks"), "~ghosts");
    expect(await found()).toEqual({ ghosts_wrong: ["~ghosts"] });
    await rig.command("HSET", key("tasks"), "~ghosts", "many");
    expect(await found()).toEqual({ control_broken: ["~ghosts"], ghosts_wrong: ["~ghosts"] });
    expect(await rig.queue().counts()).toMatchObject({ pending: 1 });
    expect(await drained()).toEqual(["d"]);
  });

  test("the count of tasks held behind their group's limit", async () => {
    await rig.operator().configureGroup("g", { maxWorking: 1 });
    await rig.queue().enqueueMany(numbered(3, { group: "g" }));
    await rig.queue().dequeue();
    const times = String(await rig.command("HGET", key("tasks"), "~fair"));
    expect(times).toContain(";h=2");
    await rig.command("HSET", key("tasks"), "~fair", times.replace(";h=2", ";h=5"));
    expect(await found()).toEqual({ control_broken: ["~fair"] });
    expect(await rig.command("HGET", key("tasks"), "~fair")).toBe(times);
  });

  test("a ghost without an entry, of an id without any other record", async () => {
    await enqueue("a", "b");
    await rig.queue().cancel("a");
    rig.now += 300_000;
    await rig.sweepOnce();
    await rig.command("LREM", key("pending"), "1", "a");
    expect(await found()).toEqual({ ghosts_wrong: ["a"] });
    expect(await rig.command("HMGET", key("tasks"), "a", ".a")).toEqual([null, null]);
  });

  test("the count of entries that dequeue put aside, which restarts at 0", async () => {
    await enqueue("a", "b");
    await rig.command("HSET", key("tasks"), "a", "junk");
    expect(await drained()).toEqual(["b"]);
    expect(await rig.queue().counts()).toMatchObject({ broken: 1 });
    expect(await found()).toMatchObject({ record_broken: ["a"] });
    expect(await rig.queue().counts()).toMatchObject({ broken: 0 });
  });

  test.each(["", "1;w=7", "1;h=2", "1;0=5,9", "1;w=x;h=y;0=z", "junk"])(
    "the state %j of a group, whose tasks are then delivered within its limit",
    async (state) => {
      await rig.operator().configureGroup("g", { maxWorking: 2 });
      await rig.queue().enqueueMany(numbered(6, { group: "g" }));
      const [task] = await rig.queue().dequeue();
      if (state === "") await rig.command("HDEL", key("tasks"), "~g:g");
      else await rig.command("HSET", key("tasks"), "~g:g", state);
      expect((await found())["group_wrong"]).toEqual(["g"]);
      expect(await task?.complete()).toMatchObject({ ok: true });
      expect((await rig.queue().dequeue({ max: 9 })).length).toBe(2);
      rig.now += 300_000;
      expect((await drained()).length).toBe(5);
    },
  );

  test("the state of a group with held tasks: tasks held later come behind them", async () => {
    await rig.operator().configureGroup("g", { maxWorking: 1 });
    await rig.queue().enqueueMany(numbered(4, { group: "g" }, "a"));
    await rig.command("HDEL", key("tasks"), "~g:g");
    expect(await found()).toEqual({ group_wrong: ["g"] });
    await rig.queue().enqueueMany(numbered(2, { group: "g" }, "b"));
    expect(await drained()).toEqual(["a0", "a1", "a2", "a3", "b0", "b1"]);
  });

  test("the state of a group whose tasks are all held: they are admitted again", async () => {
    await rig.operator().configureGroup("g", { rate: { most: 1, per: "1m" } });
    await rig.queue().enqueueMany(numbered(3, { group: "g" }, "a"));
    await (await rig.queue().dequeue())[0]?.complete();
    await rig.command("HDEL", key("tasks"), "~g:g");
    expect(await found()).toEqual({ group_wrong: ["g"] });
    expect((await rig.queue().dequeue({ max: 9 })).map(({ id }) => id)).toEqual(["a1"]);
  });

  test("the state of a group of which a working task is lost: another task is admitted", async () => {
    await rig.operator().configureGroup("g", { maxWorking: 2 });
    await rig.queue().enqueueMany(numbered(5, { group: "g" }, "a"));
    await rig.queue().dequeue({ max: 2 });
    await rig.command("ZREM", key("working"), "a0");
    await rig.command("HDEL", key("tasks"), "a0", ".a0");
    expect((await rig.space()).fair.size).toBe(0);
    expect(await found()).toEqual({ group_wrong: ["g"] });
    expect([...(await rig.space()).fair.keys()]).toEqual(["a2"]);
  });

  test("the state of a group without tasks, by removing it", async () => {
    await enqueue("a");
    await rig.command("HSET", key("tasks"), "~g:ghost town", "1;w=3;h=1;0=5,2");
    expect(await found()).toEqual({ group_wrong: ["ghost town"] });
    expect(await rig.command("HEXISTS", key("tasks"), "~g:ghost town")).toBe(0);
  });

  test("~fair, without which no dequeue finds the tasks of groups", async () => {
    await enqueue({ id: "a", group: "g" }, { id: "b", priority: 2 }, "c");
    await rig.command("HDEL", key("tasks"), "~fair");
    const seen = await rig.queue().dequeue({ max: 3 });
    expect(seen.map(({ id }) => id)).toEqual(["c"]);
    await seen[0]?.requeue({ unstarted: true });
    expect(await found()).toEqual({ control_broken: ["~fair"] });
    expect(await drained()).toEqual(["b", "c", "a"]);
  });

  test("a virtual time far too high, from a damaged entry", async () => {
    await enqueue({ id: "a", group: "g" }, { id: "b", group: "h" }, "c");
    await rig.command("ZADD", key("fair"), String(10 * 2 ** 49 - 1), "a");
    await rig.command("HSET", key("tasks"), "~fair", `1;0=${2 ** 49 - 1};l=${2 ** 49 - 1}`);
    await rig.command("HSET", key("tasks"), "~g:g", `1;0=${2 ** 49 - 1},1`);
    await found();
    // The next entry comes at once, and the list keeps no earlier tag.
    expect((await rig.space()).tasks.get("~fair")).toBe("1");
    expect((await drained()).toSorted()).toEqual(["a", "b", "c"]);
  });

  test("a list tag far too high, with which plain tasks would wait for every group", async () => {
    await enqueue("plain");
    await rig.queue().enqueueMany(numbered(20, { group: "g" }));
    await rig.command("HSET", key("tasks"), "~fair", `1;l=${2 ** 49 - 1}`);
    expect(await found()).toEqual({ control_broken: ["~fair"] });
    expect((await drained()).slice(0, 3)).toContain("plain");
  });

  test("the lease counter, lost, invalid or rolled back, so that no number is used twice", async () => {
    await enqueue("a", "b", "c", "d", "e", "f");
    const leases: number[] = [];
    /** Leases the next task, and notes the number that is in its receipt. */
    const lease = async () => {
      const [task] = await rig.queue().dequeue();
      leases.push(Number(task?.receipt.split(".")[2]));
      return task;
    };
    for (const [ends, ...damage] of [
      // Only the very first lease, number 1.
      ["after", "HDEL", key("tasks"), "~lease"],
      // No task works from whose lease the counter could be restored.
      ["before", "HSET", key("tasks"), "~lease", "many"],
      ["never", "HDEL", key("tasks"), "~lease"],
      ["never", "HSET", key("tasks"), "~lease", "many"],
      ["never", "HSET", key("tasks"), "~lease", "-17"],
      ["before", "HSET", key("tasks"), "~lease", "0"],
    ] as const) {
      const task = await lease();
      if (ends === "before") await task?.complete();
      await rig.command(...damage);
      // The counter goes on from the time in ms.
      rig.now += 1_000;
      expect(await found()).toEqual({ control_broken: ["~lease"] });
      if (ends === "after") await task?.complete();
    }
    await lease();
    expect(leases).toEqual(leases.toSorted((a, b) => a - b));
    expect(new Set(leases).size).toBe(7);
  });
});

describe("turns are repaired", () => {
  test("if one is added, one is missing, one is of another group, and one is out of order", async () => {
    const ids = ["a", "b", "c", "d"];
    await enqueue(...ids.map((id) => ({ id, group: "g" })));
    const [a = "", b = "", c = ""] = (await rig.space()).fairByGroup.keys();
    await rig.command("ZREM", key("fair-by-group"), a);
    await rig.command("ZADD", key("fair-by-group"), "0", c.replace("g", "h"), "0", "junk", "3", b);
    expect(await found()).toEqual({ turn_wrong: ["a", "b", "c", "junk"] });
    await rig.command("DEL", key("fair-by-group"));
    expect(await found()).toEqual({ turn_wrong: ids });
    await rig.queue().cancel("a");
    expect(await drained()).toEqual(["b", "c", "d"]);
  });
});
