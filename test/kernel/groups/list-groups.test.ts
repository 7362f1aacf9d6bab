import { beforeEach, describe, expect, test } from "vitest";
import type { GroupInfo, Operator, Queue } from "../../../src/index.ts";
import { ofGroup } from "../../support/groups.ts";
import { key, QUEUE, useRig } from "../../support/rig.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));
const unset = { maxWorking: null, rate: null, order: null, onDead: null };
const free = {
  queue: QUEUE,
  paused: false,
  pausedUntil: null,
  weight: 1,
  ...unset,
  working: 0,
  limited: 0,
  inLine: 0,
  stoppedBy: null,
};

/** Reads all pages. Returns the names on each, and all groups. */
async function allPages(operator: Operator, size: number) {
  const pages: string[][] = [];
  const all: GroupInfo[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await operator.groups({ size, cursor: cursor ?? undefined });
    pages.push(page.groups.map(({ group }) => group));
    all.push(...page.groups);
    cursor = page.cursor;
  } while (cursor !== null);
  return { pages, all };
}

describe("the list of groups", () => {
  test("has the groups with ready tasks by name, then those whose tasks all wait for limits", async () => {
    const operator = rig.operator();
    await operator.configureGroup("a-full", { maxWorking: 1 });
    await operator.configureGroup("half", { weight: 3, maxWorking: 2 });
    await queue.enqueueMany(ofGroup("a-full", 1));
    await queue.dequeue();
    await queue.enqueueMany([
      ...ofGroup("z", 2),
      ...ofGroup("half", 5),
      ...ofGroup("b;%c", 1),
      ...ofGroup("a-full", 3),
      ...ofGroup(undefined, 2, { priority: 1 }),
    ]);
    const { groups, cursor } = await operator.groups();
    expect(cursor).toBe(null);
    expect(groups).toEqual([
      { ...free, group: "b;%c", ready: 1 },
      { ...free, group: "half", weight: 3, maxWorking: 2, ready: 2, limited: 3 },
      { ...free, group: "z", ready: 2 },
      { ...free, group: "a-full", maxWorking: 1, ready: 0, working: 1, limited: 3 },
    ]);
    expect(groups).toEqual(await Promise.all(groups.map(({ group }) => operator.groupSettings(group))));
  });

  test("comes in pages of at most that size, each group once, also if groups have hundreds of tasks", async () => {
    const operator = rig.operator();
    const limited = ["l1", "l2", "l3"];
    for (const group of limited) await operator.configureGroup(group, { maxWorking: 1 });
    await queue.enqueueMany(limited.flatMap((group) => ofGroup(group, 1)));
    await queue.dequeue({ max: 3 });
    // The members of `a` are before those of `a!` and `a!b`, although these names begin with it.
    const ready = ["a", "a!", "a!b", "b", "c", "c1", "d"];
    await queue.enqueueMany([...ofGroup("a", 450), ...ofGroup("c", 201)]);
    await queue.enqueueMany(["a!", "a!b", "b", "c1", "d"].flatMap((group) => ofGroup(group, 2)));
    for (const group of limited) await queue.enqueueMany(ofGroup(group, 210));
    for (const size of [1, 2, 3, 7, 10, 1_000]) {
      const { pages, all } = await allPages(operator, size);
      expect(Math.max(...pages.map((names) => names.length))).toBeLessThanOrEqual(size);
      expect(pages.flat()).toEqual([...ready, ...limited]);
      expect(all.map(({ ready, limited }) => ready + limited)).toEqual([
        450, 2, 2, 2, 201, 2, 2, 210, 210, 210,
      ]);
    }
  });

  test("is read some 10,000 entries a call, and the cursor says where to continue (law 7)", async () => {
    const groups = Array.from({ length: 60 }, (_, i) => `g${String(i).padStart(2, "0")}`);
    for (const group of groups) {
      const turns = Array.from({ length: 200 }, (_, i) => `${group} ${String(i).padStart(16, "0")} t${i}`);
      await rig.command("ZADD", key("fair-by-group"), ...turns.flatMap((turn) => ["0", turn]));
    }
    const { pages } = await allPages(rig.operator(), 1_000);
    expect(pages.map((names) => names.length)).toEqual([50, 10]);
    expect(pages.flat()).toEqual(groups);
    await rig.command("FLUSHALL");
  });

  test("throws newer_schema if a later release wrote the state or settings of a group (law 12)", async () => {
    await rig.queue().enqueueMany(ofGroup("a", 1));
    const state = String(await rig.command("HGET", key("tasks"), "~g:a"));
    for (const field of ["~g:a", "~s:a"]) {
      await rig.command("HSET", key("tasks"), field, "3;k=5");
      await expect(rig.operator().groups()).rejects.toMatchObject({ code: "newer_schema" });
      await rig.command("HDEL", key("tasks"), "~s:a");
      await rig.command("HSET", key("tasks"), "~g:a", state);
    }
    expect((await rig.operator().groups()).groups).toMatchObject([{ group: "a", ready: 1 }]);
  });

  test("leaves out the group of a task in `limited` whose record cannot be read", async () => {
    await rig.operator().configureGroup("a", { maxWorking: 1 });
    await queue.enqueueMany(ofGroup("a", 1));
    await queue.dequeue();
    const { id } = await queue.enqueue(1, { group: "a" });
    const record = String(await rig.command("HGET", key("tasks"), id));
    await rig.command("HSET", key("tasks"), id, "2;x");
    expect(await rig.operator().groups()).toEqual({ groups: [], cursor: null });
    await rig.command("HSET", key("tasks"), id, record);
  });
});
