import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Operator, type PurgeOptions } from "../../src/index.ts";
import { bury } from "../support/dead-letters.ts";
import { manyAtOnce, roomFor } from "../support/no-room.ts";
import { key, QUEUE, useRig } from "../support/rig.ts";
import { named, sortedIds } from "../support/new-tasks.ts";
import { purging, sum } from "../support/purging.ts";

const rig = useRig();
const { enqueue, nothingLeft } = purging(rig);
const STATES = ["pending", "delayed", "completed", "rejected"] as const;
const purge = (state: string, options: object = {}) =>
  rig.operator().purge({ state, ...options } as PurgeOptions);
const newer = async (ids: readonly string[]) => {
  for (const id of ids) await rig.command("HSET", key("tasks"), `.${id}`, "2;x\n");
};

describe("a purge that may not run", () => {
  afterEach(async () => {
    await rig.command("ACL", "SETUSER", "default", "+@all");
    await rig.command("CONFIG", "SET", "maxmemory", "0");
  });

  /** Tasks in each state, and a ghost. */
  beforeEach(async () => {
    const queue = rig.queue();
    await bury(queue, named(["dead"]));
    await queue.enqueueMany(named(["done"]));
    await (await queue.dequeue())[0]?.complete({ sum: 1 });
    await queue.enqueueMany([...named(["a", "ghost", "b"]), ...named(["later"], { delay: "1m" })]);
    await queue.cancel("ghost");
    await queue.enqueueMany(named(["g1", "g2"], { group: "g" }));
  });

  test("runs on a full Redis, because it frees memory", async () => {
    await rig.command("CONFIG", "SET", "maxmemory", "1");
    for (const [state, purged] of Object.entries({ pending: 4, delayed: 1, completed: 1, rejected: 1 })) {
      expect(await purge(state)).toMatchObject({ purged, cursor: null });
    }
    await rig.command("CONFIG", "SET", "maxmemory", "0");
    await nothingLeft();
  });

  test("fails if Redis cannot write records, and every task keeps its place", async () => {
    await rig.command("ACL", "SETUSER", "default", "-hset");
    const before = await rig.keySpace();
    for (const state of STATES) await expect(purge(state)).rejects.toMatchObject({ code: /redis/ });
    // Of the list alone.
    await expect(purge("pending", { cursor: "pending 0 -" })).rejects.toMatchObject({ code: /redis/ });
    expect(await rig.keySpace()).toEqual(before);
  });

  test("is refused by settings of a newer release", async () => {
    await rig.command("HSET", key("tasks"), "~set", "3;x");
    const before = await rig.keySpace();
    for (const state of STATES) await expect(purge(state)).rejects.toMatchObject({ code: "newer_schema" });
    expect(await rig.keySpace()).toEqual(before);
  });

  test("keeps records of a newer release in place, and counts them", async () => {
    const ids = ["a", "later", "done", "dead", "g1"];
    const intact = (await rig.space()).tasks;
    await newer(ids);
    for (const [state, unreadable] of Object.entries({ pending: 2, delayed: 1, completed: 2, rejected: 1 })) {
      expect(await purge(state)).toMatchObject({ unreadable, cursor: null });
    }
    const { pending, fair, delayed, dead, tasks } = await rig.space();
    const left = [pending, [...fair.keys()], [...delayed.keys()], [...dead.keys()]];
    expect(left).toEqual([["a"], ["g1"], ["later"], ["dead"]]);
    for (const id of ids) {
      const record = intact.get(`.${id}`);
      expect(tasks.get(`.${id}`)).toBe("2;x\n");
      if (record === undefined) await rig.command("HDEL", key("tasks"), `.${id}`);
      else await rig.command("HSET", key("tasks"), `.${id}`, record);
    }
  });

  test("leaves an id without a record to the deep sweep, and removes the others", async () => {
    const intact = (await rig.space()).tasks;
    await rig.queue().enqueueMany([...named(["g3"], { group: "g" }), ...named(["later2"], { delay: "1m" })]);
    for (const id of ["g1", "later"]) await rig.command("HDEL", key("tasks"), id);
    expect(await purge("pending")).toMatchObject({ purged: 4, unreadable: 1 });
    expect(await purge("delayed")).toMatchObject({ purged: 1, unreadable: 1 });
    for (const id of ["g1", "later"]) await rig.command("HSET", key("tasks"), id, intact.get(id) ?? "");
  });

  test("removes an entry of the list that is not deliverable, and counts it as broken", async () => {
    await rig.command("HDEL", key("tasks"), "a");
    expect(await purge("pending")).toMatchObject({ purged: 3, cursor: null });
    expect(await rig.queue().counts()).toMatchObject({ pending: 0, broken: 1 });
  });
});

test("a purge stops at many records of a newer release in the list, and skips a few", async () => {
  await enqueue(named(sortedIds(1_500)));
  await newer(["t0000", "t1200"]);
  expect(await purge("pending")).toEqual({ purged: 1_498, cursor: null, unreadable: 2 });
  expect((await rig.space()).pending).toEqual(["t1200", "t0000"]);
  const ids = sortedIds(200).map((id) => `n${id}`);
  await enqueue(named(ids));
  await newer(ids);
  expect(await purge("pending")).toMatchObject({ purged: 0, cursor: null });
  const all = ["t0000", "t1200", ...ids];
  expect((await rig.space()).pending.toReversed()).toEqual(all);
  await rig.command("HDEL", key("tasks"), ...all.map((id) => `.${id}`));
});

test.each([
  ["pending", 0],
  ["pending", 1],
  ["delayed", 0],
  ["rejected", 0],
] as const)(
  "a purge reports what it removed if Redis has no room for all %s tasks (priority %i), and keeps the others in place",
  async (state, priority) => {
    const tasks = named(sortedIds(500), { priority, ...(state === "delayed" && { delay: "1m" }) });
    if (state === "rejected") await bury(rig.queue(), tasks);
    else await enqueue(tasks);
    const transport = manyAtOnce(roomFor(rig.transport, 2));
    const short = new Operator(QUEUE, { transport, now: () => rig.now });
    const counts: number[] = [];
    let cursor: string | null = null;
    // A purge of pending tasks begins with the held ones, of which there are none here.
    for (let i = 0; i < (state === "pending" && priority > 0 ? 2 : 1); i++) {
      const done: { purged: number; cursor: string | null } = await short.purge({
        state,
        cursor: cursor ?? undefined,
        budget: 0,
      });
      counts.push(done.purged);
      ({ cursor } = done);
    }
    expect(sum(counts)).toBe(320);
    const { tasks: rest } = await rig.operator().list({ state, size: 1_000 });
    expect(rest.map(({ id }) => id)).toEqual(sortedIds(500).slice(320));
    expect(await purge(state, { cursor })).toMatchObject({ purged: 180, cursor: null });
  },
);
