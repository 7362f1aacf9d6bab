import { describe, expect, test } from "vitest";
import { mapsKey, queueKeys, registryKey } from "../../../src/kernel/names/keys.ts";
import { callOf, type Binding } from "../../../src/kernel/scripts/binding.ts";
import { ownSlotsScript, putMapScript } from "../../../src/features/partitions/partition-scripts.ts";
import { headScript, setIdleScript } from "../../../src/features/partitions/turn-scripts.ts";
import { findForeignScript } from "../../../src/features/partitions/upkeep-scripts.ts";
import { enqueueScript } from "../../../src/kernel/scripts/enqueue-script.ts";
import { replyAt } from "../../../src/kernel/scripts/replies.ts";
import { numbered } from "../../support/new-tasks.ts";
import { key, QUEUE, START, useRig } from "../../support/rig.ts";

// The scripts of lua/partitions, each alone.

const rig = useRig({ checkInvariants: false });
const keys = queueKeys(QUEUE);
const registry = { queues: registryKey(), maps: mapsKey() };

async function run<const B extends Binding>(
  binding: B,
  on: Parameters<typeof callOf<B>>[1],
  args: Parameters<typeof callOf<B>>[2],
  items: Parameters<typeof callOf<B>>[3] = [],
) {
  const outcomes = await rig.transport.send([callOf(binding, on, args, items)]);
  return binding.decode(replyAt(outcomes, 0)) as ReturnType<B["decode"]>;
}

const owned = "f".repeat(64);
const own = (version: number, slots = owned) =>
  run(ownSlotsScript, keys, { version: String(version), owned: slots });

describe("own-slots", () => {
  test("says whether the partition had been used, and notes the slots", async () => {
    expect(await own(1)).toEqual({ used: false });
    expect(await rig.command("HGET", key("tasks"), "~slots")).toBe(`1;1;${owned}`);
    expect(await own(1, "0".repeat(64))).toEqual({ used: true });
    // The note from before the first map.
    await rig.command("HSET", key("tasks"), "~slots", `1;0;${owned}`);
    expect(await own(1)).toEqual({ used: false });
    await rig.command("DEL", key("tasks"), key("pending"));
    await rig.queue().enqueue(1);
    expect(await own(1)).toEqual({ used: true });
  });

  test("changes nothing if a later version, or one of a later release, is noted (I3, law 12)", async () => {
    await own(7);
    expect(await own(6, "0".repeat(64))).toEqual({ noted: 7 });
    expect(await rig.command("HGET", key("tasks"), "~slots")).toBe(`1;7;${owned}`);
    await rig.command("HSET", key("tasks"), "~slots", "2;x");
    await expect(own(9)).rejects.toMatchObject({ code: "newer_schema" });
    expect(await rig.command("HGET", key("tasks"), "~slots")).toBe("2;x");
  });
});

test("put-map writes, replaces and removes a field only if it is as it was read (I3)", async () => {
  const put = (was: string, map: string, partitions = "") =>
    run(putMapScript, registry, { queue: QUEUE, was, map, partitions });
  expect(await put("", "a", "8")).toBe("a");
  expect(await rig.command("ZSCORE", "sluice:queues", `/${QUEUE}`)).toBe("8");
  expect(await put("", "b", "9")).toBe("a");
  expect(await put("x", "", "")).toBe("a");
  expect(await rig.command("ZSCORE", "sluice:queues", `/${QUEUE}`)).toBe("8");
  expect(await put("a", "b")).toBe("b");
  expect(await put("b", "")).toBe("");
  expect(await rig.command("EXISTS", "{sluice:queues}:maps")).toBe(0);
});

test("set-idle records those partitions whose score is still as it was seen", async () => {
  await rig.command("ZADD", "sluice:queues", "7", "a/1", "8", "a/2", "9", "a/3");
  const idle = [
    { name: "a/1", seen: "7", idle: "-7" },
    { name: "a/2", seen: "7", idle: "-7" },
    { name: "a/3", seen: "9", idle: "100" },
    { name: "a/4", seen: "0", idle: "-1" },
  ];
  expect(await run(setIdleScript, registry, {}, idle)).toBe(2);
  expect(await rig.command("ZRANGE", "sluice:queues", "0", "-1", "WITHSCORES")).toEqual([
    "a/1",
    "-7",
    "a/2",
    "8",
    "a/3",
    "100",
  ]);
});

describe("head", () => {
  const head = () => run(headScript, keys, {});

  test("has when the next task was enqueued, of the list or of groups, whichever is older", async () => {
    expect(await head()).toEqual({ oldestAt: 0, nextDueAt: 0 });
    await rig.queue().enqueue(1, { group: "g" });
    rig.now += 10;
    expect(await head()).toEqual({ oldestAt: START, nextDueAt: 0 });
    await rig.queue().enqueueMany([{ payload: 2 }, { payload: 3, delay: "1h" }]);
    rig.now += 10;
    await rig.queue().enqueue(4);
    await rig.command("DEL", key("fair"), key("fair-by-group"));
    expect(await head()).toEqual({ oldestAt: START + 10, nextDueAt: 0 });
  });

  test("has when the first task is due or lease expires, if none is ready", async () => {
    await rig.queue().enqueueMany([{ payload: 1 }, { payload: 2, delay: "1h" }]);
    await rig.queue().dequeue({ lease: "2h" });
    expect(await head()).toEqual({ oldestAt: 0, nextDueAt: START + 3_600_000 });
    const [id = ""] = (await rig.command("ZRANGE", key("working"), "0", "0")) as string[];
    await rig.command("ZADD", key("working"), String(START + 5), id);
    expect(await head()).toEqual({ oldestAt: 0, nextDueAt: START + 5 });
  });

  test("takes a ghost for old", async () => {
    const { id } = await rig.queue().enqueue(1);
    await rig.queue().cancel(id);
    await rig.command("HDEL", key("tasks"), id);
    expect(await head()).toEqual({ oldestAt: 1, nextDueAt: 0 });
  });
});

test("find-foreign has the ids of producers and dedup keys, page by page, also of tasks that end while it reads", async () => {
  const queue = rig.queue();
  await queue.enqueueMany(numbered(300).map((task) => ({ ...task, payload: "x".repeat(100) })));
  await queue.enqueueMany([{ payload: 1 }, { payload: 2, dedup: { key: "k", window: "1h" } }]);
  const found = new Set<string>();
  let [cursor, pages] = ["0", 0];
  do {
    const args = { cursor, size: "20", before: String(rig.now + 1) };
    const page = await run(findForeignScript, keys, args);
    for (const name of page.names) found.add(name);
    [cursor, pages] = [page.cursor, pages + 1];
    const tasks = await queue.dequeue({ max: 40 });
    await queue.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" })));
  } while (cursor !== "0");
  expect(pages).toBeGreaterThan(8);
  expect(await queue.counts()).toMatchObject({ pending: 0, working: 0 });
  expect(found).toEqual(new Set(["~d:k", ...numbered(300).map(({ id }) => id)]));
});

test("enqueue is refused by a partition that does not own all slots, or knows a later map (I3)", async () => {
  const enqueue = (slots: string) =>
    run(
      enqueueScript,
      keys,
      { testNow: String(rig.now), withSettings: "", wake: "", refuseEach: "", slots },
      [{ id: `x${slots}`, when: "", unique: "", record: ";t=token-01\nj1" }],
    );
  // Slots 0 and 5.
  await own(4, `12${"0".repeat(62)}`);
  const before = await rig.keySpace();
  for (const slots of ["4:1", "4:0,1", "4:4", "3:0", "4:255"]) {
    expect(await enqueue(slots), slots).toMatchObject({ refused: "moved" });
  }
  expect(await rig.keySpace()).toEqual(before);
  expect(await enqueue("4:0,5")).toMatchObject({ refused: undefined, tasks: [{ created: true }] });
  expect(await enqueue("5:5")).toMatchObject({ refused: undefined, tasks: [{ created: true }] });
});
