import { afterEach, describe, expect, test } from "vitest";
import { Operator, type PurgeOptions } from "../../src/index.ts";
import { bury } from "../support/dead-letters.ts";
import { roomFor } from "../support/no-room.ts";
import { key, QUEUE, START, useRig } from "../support/rig.ts";
import { named, sortedIds } from "../support/new-tasks.ts";

const rig = useRig();
const WINDOW = 300_000;

async function enqueue(tasks: ReturnType<typeof named>) {
  for (let first = 0; first < tasks.length; first += 1_000) {
    await rig.queue().enqueueMany(tasks.slice(first, first + 1_000));
  }
}

/** How many each call purged, one request at a time. */
async function calls(options: PurgeOptions): Promise<number[]> {
  const counts: number[] = [];
  let cursor: string | null | undefined;
  do {
    const done = await rig.operator().purge({ ...options, cursor: cursor ?? undefined, budget: 0 });
    counts.push(done.purged);
    ({ cursor } = done);
  } while (cursor !== null);
  return counts;
}

/** The queue holds no task of any kind, after the tombstones have gone. */
async function nothingLeft() {
  rig.now += WINDOW;
  while (((await rig.sweepOnce()) as number[])[4] !== 0);
  await rig.queue().dequeue({ max: 1_000 });
  const { tasks, ...places } = await rig.space();
  expect(Object.values(places).map((place) => (Array.isArray(place) ? place.length : place.size))).toEqual(
    Object.keys(places).map(() => 0),
  );
  expect([...tasks.keys()].filter((field) => !field.startsWith("~"))).toEqual([]);
}

describe("pending tasks", () => {
  test("are cancelled, all of them, and leave tombstones and no ghosts (I1)", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "b", "c"]));
    await queue.cancel("b");
    await queue.enqueue("w", { id: "d", delay: "1h" });
    expect(await rig.operator().purge({ state: "pending" })).toEqual({
      purged: 2,
      cursor: null,
      unreadable: 0,
    });
    const space = await rig.space();
    expect([space.pending, space.delayed.size, space.dead.size, space.tasks.get("~ghosts")]).toEqual([
      [],
      1,
      0,
      "0",
    ]);
    expect(await queue.get("a")).toMatchObject({ state: "rejected", reason: "cancelled", endedAt: START });
    expect((await queue.enqueue("again", { id: "a" })).created).toBe(false);
    rig.now += WINDOW;
    await rig.sweepOnce();
    expect((await queue.enqueue("anew", { id: "b" })).created).toBe(true);
    expect((await queue.dequeue({ max: 5 })).map(({ payload }) => payload)).toEqual(["anew"]);
  });

  test("in bounded calls, ghosts among them", async () => {
    await enqueue(named(sortedIds(2_500)));
    for (const id of sortedIds(2_500).filter((_, i) => i % 50 === 0)) await rig.queue().cancel(id);
    const counts = await calls({ state: "pending" });
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2_450);
    expect(Math.max(...counts)).toBeLessThanOrEqual(1_000);
    expect(counts.length).toBeLessThanOrEqual(4);
    expect((await rig.space()).tasks.get("~ghosts")).toBe("0");
    await nothingLeft();
  });

  test("a list of nothing but ghosts is dropped in bounded calls too", async () => {
    await enqueue(named(sortedIds(1_500)));
    for (const id of sortedIds(1_500)) await rig.queue().cancel(id);
    const first = await rig.operator().purge({ state: "pending", budget: 0, limit: 500 });
    expect([first.purged, first.cursor === null, (await rig.space()).pending.length]).toEqual([
      0,
      false,
      860,
    ]);
    expect(await rig.operator().purge({ state: "pending" })).toMatchObject({ purged: 0, cursor: null });
    expect((await rig.space()).pending).toEqual([]);
  });

  test("a limit leaves the others in their order", async () => {
    await enqueue(named(sortedIds(10)));
    const first = await rig.operator().purge({ state: "pending", limit: 4 });
    expect([first.purged, first.cursor === null]).toEqual([4, false]);
    expect((await rig.space()).pending.toReversed()).toEqual(sortedIds(10).slice(4));
  });

  test("of which one waits beside its own ghost: both go", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "b"]));
    await queue.cancel("a");
    rig.now += WINDOW;
    await rig.sweepOnce();
    await queue.enqueue("anew", { id: "a", delay: 1 });
    rig.now += 1;
    await rig.sweepOnce();
    expect((await rig.space()).pending).toEqual(["a", "b", "a"]);
    expect(await rig.operator().purge({ state: "pending" })).toMatchObject({ purged: 2 });
    expect(await queue.get("a")).toMatchObject({ state: "rejected", reason: "cancelled" });
    await nothingLeft();
  });

  test("whose ghost is met while the task itself is delayed, keep the delayed one", async () => {
    const queue = rig.queue();
    await queue.enqueue("old", { id: "a" });
    await queue.cancel("a");
    rig.now += WINDOW;
    await rig.sweepOnce();
    await queue.enqueue("anew", { id: "a", delay: "1m" });
    expect(await rig.operator().purge({ state: "pending" })).toMatchObject({ purged: 0, cursor: null });
    rig.now += 60_000;
    expect((await queue.dequeue({ max: 5 })).map(({ payload }) => payload)).toEqual(["anew"]);
  });

  test("of groups go with what they would have cost, held ones too, and the groups are as new", async () => {
    const queue = rig.queue({ resultTtl: 0 });
    await rig.operator().configureGroup("capped", { maxWorking: 2 });
    await queue.enqueueMany([
      ...named(sortedIds(400), { group: "capped" }),
      ...named(["f1", "f2"], { group: "free", priority: 4 }),
      ...named(["l1", "l2"]),
    ]);
    const [working] = await queue.dequeue();
    const counts = await calls({ state: "pending" });
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(403);
    await working?.complete();
    await nothingLeft();
    await queue.enqueueMany([
      ...named(["c1", "c2", "c3"], { group: "capped" }),
      ...named(["n1", "n2"], { group: "new" }),
      ...named(["m1", "m2"]),
    ]);
    const order = (await queue.dequeue({ max: 6 })).map(({ id }) => id);
    expect(order.slice(0, 3).toSorted()).toEqual(["c1", "m1", "n1"]);
    expect(order.slice(3).toSorted()).toEqual(["c2", "m2", "n2"]);
  });

  test("of the list that go leave those that come after them no advantage over the groups, and no less", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([...named(["l1", "l2", "l3"]), ...named(sortedIds(30), { group: "g" })]);
    await queue.dequeue({ max: 4 });
    expect((await rig.space()).pending).toEqual(["l3"]);
    expect(await rig.operator().purge({ state: "pending", limit: 30 })).toMatchObject({ purged: 29 });
    await queue.enqueueMany(named(["h1", "h2", "h3", "h4"], { group: "h" }));
    await queue.enqueueMany(named(["k1", "k2", "k3", "k4"]));
    const order = (await queue.dequeue({ max: 4 })).map(({ id }) => id.slice(0, 1));
    expect(order.toSorted()).toEqual(["h", "h", "k", "k"]);
  });

  test("of one group, by its filter, and of no other", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([
      ...named(["a1", "a2", "a3"], { group: "a" }),
      ...named(["b1", "b2"], { group: "b" }),
      ...named(["l1"]),
    ]);
    expect(await rig.operator().purge({ state: "pending", group: "a" })).toMatchObject({
      purged: 3,
      cursor: null,
    });
    expect((await queue.dequeue({ max: 9 })).map(({ id }) => id).toSorted()).toEqual(["b1", "b2", "l1"]);
  });

  test("while others enqueue and dequeue: each is delivered or cancelled, once", async () => {
    const queue = rig.queue();
    await enqueue(named(sortedIds(2_000)));
    const delivered: string[] = [];
    const consume = async () => {
      for (let i = 0; i < 20; i++) {
        const batch = await queue.dequeue({ max: 20 });
        delivered.push(...batch.map(({ id }) => id));
        await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "complete" as const })));
      }
    };
    const purge = async () => (await rig.operator().purge({ state: "pending" })).purged;
    const [, one, two] = await Promise.all([consume(), purge(), purge()]);
    expect(delivered.length + one + two).toBe(2_000);
    expect(new Set(delivered).size).toBe(delivered.length);
  });
});

describe("delayed tasks", () => {
  test("are cancelled, and timers stay", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([
      ...named(["a", "b"], { delay: "1m" }),
      ...named(["c"], { delay: "1m", group: "g" }),
      ...named(["p"]),
    ]);
    await queue.heartbeat({ name: "w", silentAfter: "1h" });
    expect(await rig.operator().purge({ state: "delayed" })).toMatchObject({ purged: 3, cursor: null });
    const space = await rig.space();
    expect([[...space.delayed.keys()], space.pending]).toEqual([["~w"], ["p"]]);
    expect(await queue.get("c")).toMatchObject({ state: "rejected", reason: "cancelled" });
  });

  test("by a filter, in bounded calls", async () => {
    await enqueue(named(sortedIds(1_200), { delay: "1m" }));
    rig.now += 1;
    await enqueue(named(["new"], { delay: "1m" }));
    expect(await calls({ state: "delayed", enqueuedUntil: START + 1 })).toEqual([1_000, 200]);
    expect([...(await rig.space()).delayed.keys()]).toEqual(["new"]);
  });
});

describe("ended tasks", () => {
  test("dead letters go, within five minutes of their end leaving a tombstone, and cancelled ones stay", async () => {
    const queue = rig.queue();
    await bury(queue, named(["old"]));
    rig.now += WINDOW;
    await bury(queue, named(["new"]));
    await queue.enqueue("c", { id: "cancelled" });
    await queue.cancel("cancelled");
    expect(await rig.operator().purge({ state: "rejected" })).toMatchObject({ purged: 2, cursor: null });
    const { dead, expiry, tasks } = await rig.space();
    expect([dead.size, [...expiry.keys()].toSorted(), tasks.has("old")]).toEqual([
      0,
      ["cancelled", "new"],
      false,
    ]);
    expect([await queue.get("new"), await queue.get("old")]).toEqual([null, null]);
    expect((await queue.enqueue(1, { id: "new" })).created).toBe(false);
  });

  test("completed ones go, and no other record does", async () => {
    const queue = rig.queue();
    await bury(queue, named(["dead"]));
    await enqueue(named(sortedIds(1_500)));
    for (let i = 0; i < 2; i++) {
      const batch = await queue.dequeue({ max: 1_000 });
      await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "complete" as const, result: 1 })));
    }
    rig.now += WINDOW;
    const counts = await calls({ state: "completed" });
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1_500);
    const { tasks, expiry } = await rig.space();
    expect([[...tasks.keys()].filter((field) => !field.startsWith("~")), [...expiry.keys()]]).toEqual([
      [".dead", "dead"],
      ["dead"],
    ]);
  });

  test("5,000 dead letters in bounded calls, or in one call that goes on by itself", async () => {
    await bury(rig.queue(), named(sortedIds(5_000)));
    rig.now += WINDOW;
    expect(await calls({ state: "rejected", limit: 700 })).toEqual([700, 700, 700, 700, 700, 700, 700, 100]);
    await nothingLeft();
    await bury(rig.queue(), named(sortedIds(5_000)));
    rig.now += WINDOW;
    expect(await rig.operator().purge({ state: "rejected" })).toMatchObject({ purged: 5_000, cursor: null });
    await nothingLeft();
  });

  test("by error text, group, reason and time", async () => {
    const purge = async (filter: object) => {
      await rig.command("FLUSHALL");
      rig.now = START;
      await bury(rig.queue(), [
        { id: "a", payload: "timeout %d" },
        { id: "b", payload: "declined", group: "g" },
      ]);
      rig.now += 1_000;
      await bury(rig.queue(), [{ id: "c", payload: "timeout" }]);
      const { purged } = await rig.operator().purge({ state: "rejected", ...filter });
      const left = [...(await rig.space()).dead.keys()];
      expect(left).toHaveLength(3 - purged);
      return left;
    };
    expect(await purge({ text: "timeout" })).toEqual(["b"]);
    expect(await purge({ text: "%d" })).toEqual(["b", "c"]);
    expect(await purge({ text: "%w+" })).toEqual(["a", "b", "c"]);
    expect(await purge({ group: "g" })).toEqual(["a", "c"]);
    expect(await purge({ endedUntil: START + 1 })).toEqual(["c"]);
    expect(await purge({ endedSince: START + 1 })).toEqual(["a", "b"]);
    expect(await purge({ reason: "lease_expired" })).toEqual(["a", "b", "c"]);
  });

  test("two callers at once delete each once, and a second copy of a call goes on", async () => {
    await rig.operator().configure({ statistics: true });
    await bury(rig.queue(), named(sortedIds(1_500)));
    const done = await Promise.all([1, 2].map(() => rig.operator().purge({ state: "rejected" })));
    expect(done.reduce((sum, { purged }) => sum + purged, 0)).toBe(1_500);
    expect((await rig.space()).tasks.get("~stats")).toContain(";deleted=1500");
    expect(await rig.operator().purge({ state: "rejected" })).toMatchObject({ purged: 0 });
  });

  test("finished tasks do not pile up, as Blueque's do: a sweep and time leave nothing of them", async () => {
    const queue = rig.queue({ resultTtl: 0, deadTtl: "10m" });
    await queue.enqueueMany(named(sortedIds(600)));
    const batch = await queue.dequeue({ max: 600 });
    await queue.settle(
      batch.map(({ receipt }, i) => ({
        receipt,
        outcome: i % 2 ? ("complete" as const) : ("reject" as const),
      })),
    );
    rig.now += 600_000;
    await nothingLeft();
  });
});

describe("where it may not go on", () => {
  afterEach(async () => {
    await rig.command("ACL", "SETUSER", "default", "+@all");
    await rig.command("CONFIG", "SET", "maxmemory", "0");
  });

  test("working tasks are never purged", async () => {
    await rig.queue().enqueue(1, { id: "a" });
    const [task] = await rig.queue().dequeue();
    const before = await rig.keySpace();
    await expect(rig.operator().purge({ state: "working" as "pending" })).rejects.toMatchObject({
      code: "invalid_argument",
      path: "state",
    });
    for (const state of ["pending", "delayed", "completed", "rejected"] as const) {
      expect(await rig.operator().purge({ state })).toMatchObject({ purged: 0, cursor: null });
    }
    expect(await rig.keySpace()).toEqual(before);
    expect(await task?.complete()).toMatchObject({ ok: true });
  });

  test.each([
    ["pending", "text", { text: "x" }, "group"],
    ["pending", "time", { enqueuedUntil: 5 }, "group"],
    ["pending", "a page's cursor", { cursor: "0 0 - 0 -" }, "cursor"],
    ["rejected", "the cursor of pending tasks", { cursor: "pending 0 -" }, "cursor"],
    ["rejected", "a limit of none", { limit: 0 }, "limit"],
    ["dead", "an unknown state", {}, "state"],
  ])("bad input is refused: of %s tasks %s", async (state, _, options, path) => {
    await rig.queue().enqueue(1);
    await bury(rig.queue(), named(["a"]));
    const before = await rig.keySpace();
    await expect(rig.operator().purge({ state, ...options } as PurgeOptions)).rejects.toMatchObject({
      code: "invalid_argument",
      path,
    });
    expect(await rig.keySpace()).toEqual(before);
  });

  async function someOfAll() {
    const queue = rig.queue();
    await bury(queue, named(["dead"]));
    await queue.enqueueMany(named(["done"]));
    await (await queue.dequeue())[0]?.complete({ sum: 1 });
    await queue.enqueueMany([...named(["a", "ghost", "b"]), ...named(["later"], { delay: "1m" })]);
    await queue.cancel("ghost");
    await queue.enqueueMany(named(["g1", "g2"], { group: "g" }));
  }

  test("a full Redis lets it, for it frees", async () => {
    await someOfAll();
    await rig.command("CONFIG", "SET", "maxmemory", "1");
    for (const [state, purged] of Object.entries({ pending: 4, delayed: 1, completed: 1, rejected: 1 })) {
      expect(await rig.operator().purge({ state } as PurgeOptions)).toMatchObject({ purged, cursor: null });
    }
    await rig.command("CONFIG", "SET", "maxmemory", "0");
    await nothingLeft();
  });

  test.each(["pending", "delayed", "completed", "rejected"] as const)(
    "a hash that takes no record refuses it, and every %s task is where it was",
    async (state) => {
      await someOfAll();
      await rig.command("ACL", "SETUSER", "default", "-hset");
      const before = await rig.keySpace();
      await expect(rig.operator().purge({ state })).rejects.toMatchObject({ code: /redis/ });
      if (state === "pending") {
        const onlyList = { state, cursor: "pending 0 -" };
        await expect(rig.operator().purge(onlyList)).rejects.toMatchObject({ code: /redis/ });
      }
      expect(await rig.keySpace()).toEqual(before);
    },
  );

  test("records of a newer release stay as and where they are, and are counted", async () => {
    await someOfAll();
    const ids = ["a", "later", "done", "dead", "g1"];
    const intact = (await rig.space()).tasks;
    for (const id of ids) await rig.command("HSET", key("tasks"), `.${id}`, "2;x\n");
    for (const [state, unreadable] of Object.entries({ pending: 2, delayed: 1, completed: 2, rejected: 1 })) {
      expect(await rig.operator().purge({ state } as PurgeOptions)).toMatchObject({
        unreadable,
        cursor: null,
      });
    }
    const space = await rig.space();
    expect([
      space.pending,
      [...space.fair.keys()],
      [...space.delayed.keys()],
      [...space.dead.keys()],
    ]).toEqual([["a"], ["g1"], ["later"], ["dead"]]);
    for (const id of ids) {
      const record = intact.get(`.${id}`);
      expect(space.tasks.get(`.${id}`)).toBe("2;x\n");
      if (record === undefined) await rig.command("HDEL", key("tasks"), `.${id}`);
      else await rig.command("HSET", key("tasks"), `.${id}`, record);
    }
  });

  test("many of a newer release end a purge of the list, and few do not hold up those behind them", async () => {
    await enqueue(named(sortedIds(1_500)));
    const newer = async (ids: readonly string[]) => {
      for (const id of ids) await rig.command("HSET", key("tasks"), `.${id}`, "2;x\n");
    };
    await newer(["t0000", "t1200"]);
    expect(await rig.operator().purge({ state: "pending" })).toEqual({
      purged: 1_498,
      cursor: null,
      unreadable: 2,
    });
    expect((await rig.space()).pending).toEqual(["t1200", "t0000"]);
    const ids = sortedIds(200).map((id) => `n${id}`);
    await enqueue(named(ids));
    await newer(ids);
    expect(await rig.operator().purge({ state: "pending" })).toMatchObject({ purged: 0, cursor: null });
    expect((await rig.space()).pending.toReversed()).toEqual(["t0000", "t1200", ...ids]);
    for (const id of ["t0000", "t1200", ...ids]) await rig.command("HDEL", key("tasks"), `.${id}`);
  });

  test("an id without its record, in any place, harms no other and is left to the deep sweep", async () => {
    await someOfAll();
    const intact = (await rig.space()).tasks;
    await rig.queue().enqueueMany([...named(["g3"], { group: "g" }), ...named(["later2"], { delay: "1m" })]);
    for (const id of ["g1", "later"]) await rig.command("HDEL", key("tasks"), id);
    expect(await rig.operator().purge({ state: "pending" })).toMatchObject({ purged: 4, unreadable: 1 });
    expect(await rig.operator().purge({ state: "delayed" })).toMatchObject({ purged: 1, unreadable: 1 });
    for (const id of ["g1", "later"]) await rig.command("HSET", key("tasks"), id, intact.get(id) ?? "");
  });

  test.each([
    ["pending", 0, ["t0320", "t0499"]],
    ["pending", 1, ["t0320", "t0499"]],
    ["delayed", 0, ["t0320", "t0499"]],
    ["rejected", 0, ["t0320", "t0499"]],
  ] as const)(
    "where Redis has no room for all of the %s tasks (priority %i), those that went are told, and the others are where they were",
    async (state, priority, left) => {
      const tasks = named(sortedIds(500), { priority, ...(state === "delayed" && { delay: "1m" }) });
      if (state === "rejected") await bury(rig.queue(), tasks);
      else await enqueue(tasks);
      const short = new Operator(QUEUE, { transport: roomFor(rig.transport, 2), now: () => rig.now });
      // What waits begins with the held ones, of which there are none.
      const calls = state === "pending" && priority > 0 ? 2 : 1;
      let purged = 0;
      let cursor: string | null = null;
      for (let i = 0; i < calls; i++) {
        const done: { purged: number; cursor: string | null } = await short.purge({
          state,
          cursor: cursor ?? undefined,
          budget: 0,
        });
        purged += done.purged;
        ({ cursor } = done);
      }
      expect(purged).toBe(320);
      const { tasks: rest } = await rig.operator().list({ state, size: 1_000 });
      expect([rest.length, rest[0]?.id, rest.at(-1)?.id]).toEqual([180, ...left]);
      expect(await rig.operator().purge({ state, cursor: cursor ?? undefined })).toMatchObject({
        purged: 180,
        cursor: null,
      });
    },
  );

  test("settings of a newer release refuse it", async () => {
    await someOfAll();
    await rig.command("HSET", key("tasks"), "~set", "2;x");
    const before = await rig.keySpace();
    for (const state of ["pending", "delayed", "completed", "rejected"] as const) {
      await expect(rig.operator().purge({ state })).rejects.toMatchObject({ code: "newer_schema" });
    }
    expect(await rig.keySpace()).toEqual(before);
  });

  test("an entry of the list that is no task goes, and is counted as broken", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "lost"]));
    await rig.command("HDEL", key("tasks"), "lost");
    expect(await rig.operator().purge({ state: "pending" })).toMatchObject({ purged: 1, cursor: null });
    expect(await queue.counts()).toMatchObject({ pending: 0, broken: 1 });
  });
});

describe("options that are misspelt or of another type", () => {
  test.each<[string, (operator: ReturnType<typeof rig.operator>) => Promise<unknown>, string]>([
    ["purge with a dry run", (o) => o.purge({ state: "pending", dryRun: true } as never), "dryRun"],
    ["purge with a misspelt filter", (o) => o.purge({ state: "pending", groups: "a" } as never), "groups"],
    ["redrive with a text for dryRun", (o) => o.redrive({ dryRun: "yes" } as never), "dryRun"],
    ["redrive of an id alone", (o) => o.redrive("d1" as never), "options"],
    ["redrive with a misspelt filter", (o) => o.redrive({ txt: "x" } as never), "txt"],
    ["list with a misspelt filter", (o) => o.list({ state: "pending", txt: "x" } as never), "txt"],
    ["peek of a number", (o) => o.peek(5 as never), "options"],
  ])("%s is refused and changes nothing", async (_, call, path) => {
    await rig.queue().enqueueMany([{ payload: 1 }, { payload: 2 }]);
    const before = await rig.keySpace();
    await expect(call(rig.operator())).rejects.toMatchObject({ code: "invalid_argument", path });
    expect(await rig.keySpace()).toEqual(before);
  });
});
