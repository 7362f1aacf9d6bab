import { afterEach, describe, expect, test } from "vitest";
import { Operator } from "../../src/index.ts";
import { callOf } from "../../src/kernel/scripts/binding.ts";
import { queueKeys } from "../../src/kernel/names/keys.ts";
import { redriveScript } from "../../src/operate/operate-scripts.ts";
import { bury } from "../support/dead-letters.ts";
import { says } from "../support/key-space.ts";
import { manyAtOnce, roomFor } from "../support/no-room.ts";
import { key, QUEUE, START, useRig } from "../support/rig.ts";
import { allPages } from "../support/paging.ts";
import { named, sortedIds } from "../support/new-tasks.ts";

const rig = useRig();

describe("a redrive in bounded calls", () => {
  test("redrives each dead letter once, in order, with the count of each call", async () => {
    await bury(rig.queue(), named(sortedIds(1_000)));
    const done = await allPages((cursor) => rig.operator().redrive({ cursor, budget: 0 }));
    expect(done.map(({ redriven }) => redriven)).toEqual([...Array(6).fill(160), 40]);
    const { dead, expiry, pending } = await rig.space();
    expect([dead.size, expiry.size, pending.toReversed()]).toEqual([0, 0, sortedIds(1_000)]);
  });

  test("continues by itself until its limit", async () => {
    await bury(rig.queue(), named(sortedIds(800)));
    const { redriven, cursor } = await rig.operator().redrive({ limit: 500 });
    expect([redriven, (await rig.queue().counts()).rejected]).toEqual([500, 300]);
    const rest = await rig.operator().redrive({ cursor: cursor ?? "" });
    expect(rest).toMatchObject({ redriven: 300, cursor: null });
  });

  test.each([{}, { endedUntil: 2 * START }])(
    "leaves a task that is rejected again meanwhile to a later call: %j",
    async (filter) => {
      const queue = rig.queue();
      await bury(queue, named(["a", "b", "c"]));
      const { cursor } = await rig.operator().redrive({ ...filter, limit: 1 });
      rig.now += 1;
      await (await queue.dequeue())[0]?.requeue();
      expect(await rig.operator().redrive({ ...filter, cursor: cursor ?? "" })).toMatchObject({
        redriven: 2,
      });
      expect([...(await rig.space()).dead.keys()]).toEqual(["a"]);
    },
  );

  test("redrives an id that is given twice once, and answers it twice in one call of the script", async () => {
    await bury(rig.queue(), named(["a", "b"]));
    expect(await rig.operator().redrive({ ids: ["a", "a", { id: "a" }] })).toMatchObject({ redriven: 1 });
    const unused = { dry: "", interval: "0", cursor: "", filter: "", wake: "" };
    const args = { testNow: String(rig.now), limit: "1", ...unused };
    const call = callOf(
      redriveScript,
      queueKeys(QUEUE),
      args,
      [1, 2].map(() => ({ id: "b", lease: "" })),
    );
    const [outcome] = await rig.transport.send([call]);
    expect(outcome).toEqual({ reply: ["ok", 1, "", 0, 0, "redriven", "redriven"] });
    expect((await rig.space()).pending).toEqual(["b", "a"]);
  });

  test("reports what it redrove if Redis has no room for all, and the next call continues", async () => {
    const ids = sortedIds(500);
    await bury(rig.queue(), named(ids));
    const transport = manyAtOnce(roomFor(rig.transport, 2));
    const short = new Operator(QUEUE, { transport, now: () => rig.now });
    const first = await short.redrive({ budget: 0 });
    expect(first.redriven).toBe(320);
    expect((await rig.space()).pending.toReversed()).toEqual(ids.slice(0, 320));
    const none = new Operator(QUEUE, { transport: roomFor(rig.transport, 0), now: () => rig.now });
    await expect(none.redrive({ cursor: first.cursor ?? "" })).rejects.toMatchObject({ code: "queue_full" });
    expect(await short.redrive({ ids: ids.slice(300) })).toMatchObject({ redriven: 200, refused: [] });
    expect((await rig.space()).pending.toReversed()).toEqual(ids);
  });

  test("ends a call early at large payloads, and the next call continues, by filter and by id", async () => {
    const ids = sortedIds(20);
    const queue = rig.queue();
    for (const id of ids) await queue.enqueue("x".repeat(1_000_000), { id });
    for (let batch = await queue.dequeue({ max: 10 }); batch.length > 0;) {
      await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "reject" })));
      batch = await queue.dequeue({ max: 10 });
    }
    const { redriven, cursor } = await rig.operator().redrive({ budget: 0, dryRun: true });
    expect([redriven < 20, cursor === null]).toEqual([true, false]);
    expect(await rig.operator().redrive({ ids, rate: 10 })).toMatchObject({ redriven: 20, refused: [] });
    const { dead, pending: atOnce, delayed } = await rig.space();
    expect([dead.size, atOnce]).toEqual([0, ["t0000"]]);
    expect([...delayed.values()]).toEqual(ids.slice(1).map((_, i) => START + 100 * (i + 1)));
  });
});

describe("a redrive that Redis or a record does not allow", () => {
  afterEach(async () => {
    await rig.command("ACL", "SETUSER", "default", "+@all");
    await rig.command("CONFIG", "SET", "maxmemory", "0");
  });

  test("still runs on a full Redis, because no data grows", async () => {
    await bury(rig.queue(), named(sortedIds(500)));
    await rig.command("CONFIG", "SET", "maxmemory", "1");
    expect(await rig.operator().redrive({ group: "none" })).toMatchObject({ redriven: 0 });
    expect(await rig.operator().redrive({ rate: 1_000 })).toMatchObject({ redriven: 500 });
    expect((await rig.space()).dead.size).toBe(0);
  });

  test("fails if Redis cannot write records, and changes nothing", async () => {
    await bury(rig.queue(), named(["a", "b"], { group: "g" }));
    await bury(rig.queue(), named(["c", "d"]));
    await rig.command("ACL", "SETUSER", "default", "-hset");
    const before = await rig.keySpace();
    await expect(rig.operator().redrive()).rejects.toMatchObject({ code: /redis/ });
    await expect(rig.operator().redrive({ ids: ["c"], rate: 1 })).rejects.toMatchObject({ code: /redis/ });
    expect(await rig.keySpace()).toEqual(before);
  });

  test("keeps records of a newer release as they are, and counts them", async () => {
    await bury(rig.queue(), named(["a", "b", "c"]));
    const record = (await rig.space()).tasks.get(".b") ?? "";
    await rig.command("HSET", key("tasks"), ".b", "2;x\n");
    expect(await rig.operator().redrive({ ids: ["b"] })).toMatchObject({
      refused: [{ id: "b", code: "newer_schema" }],
    });
    expect(await rig.operator().redrive()).toMatchObject({ redriven: 2, unreadable: 1 });
    const { dead, tasks, pending } = await rig.space();
    expect([[...dead.keys()], tasks.get(".b"), pending]).toEqual([["b"], "2;x\n", ["c", "a"]]);
    await rig.command("HSET", key("tasks"), ".b", record);
  });

  test("is refused by settings of a newer release", async () => {
    await bury(rig.queue(), named(["a"]));
    await rig.command("HSET", key("tasks"), "~set", "3;x");
    const before = await rig.keySpace();
    await expect(rig.operator().redrive()).rejects.toMatchObject({ code: "newer_schema" });
    expect(await rig.keySpace()).toEqual(before);
  });

  test("leaves a dead letter without a payload to the deep sweep", async () => {
    await bury(rig.queue(), named(["a", "b"]));
    const fixed = (await rig.space()).tasks.get("a") ?? "";
    await rig.command("HDEL", key("tasks"), "a");
    expect(await rig.operator().redrive()).toMatchObject({ redriven: 1, unreadable: 1 });
    expect(says((await rig.space()).tasks.get(".a"))["s"]).toBe("r");
    await rig.command("HSET", key("tasks"), "a", fixed);
  });
});
