import { afterEach, describe, expect, test } from "vitest";
import { Operator, type PurgeOptions } from "../../../src/index.ts";
import { bury } from "../../support/dead-letters.ts";
import { manyAtOnce, roomFor } from "../../support/no-room.ts";
import { key, QUEUE, useRig } from "../../support/rig.ts";
import { named, sortedIds } from "../../support/new-tasks.ts";
import { purging } from "../../support/purging.ts";

const rig = useRig();
const { enqueue, nothingLeft } = purging(rig);

describe("a purge that may not run", () => {
  afterEach(async () => {
    await rig.command("ACL", "SETUSER", "default", "+@all");
    await rig.command("CONFIG", "SET", "maxmemory", "0");
  });

  test("never removes working tasks", async () => {
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
  ])("refuses bad input: of %s tasks %s", async (state, _, options, path) => {
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

  test("runs on a full Redis, because it frees memory", async () => {
    await someOfAll();
    await rig.command("CONFIG", "SET", "maxmemory", "1");
    for (const [state, purged] of Object.entries({ pending: 4, delayed: 1, completed: 1, rejected: 1 })) {
      expect(await rig.operator().purge({ state } as PurgeOptions)).toMatchObject({ purged, cursor: null });
    }
    await rig.command("CONFIG", "SET", "maxmemory", "0");
    await nothingLeft();
  });

  test.each(["pending", "delayed", "completed", "rejected"] as const)(
    "fails if Redis cannot write records, and every %s task keeps its place",
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

  test("keeps records of a newer release in place, and counts them", async () => {
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

  test("stops at many records of a newer release in the list, and skips a few", async () => {
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

  test("leaves an id without a record to the deep sweep, and removes the others", async () => {
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
    "reports what it removed if Redis has no room for all %s tasks (priority %i), and keeps the others in place",
    async (state, priority, left) => {
      const tasks = named(sortedIds(500), { priority, ...(state === "delayed" && { delay: "1m" }) });
      if (state === "rejected") await bury(rig.queue(), tasks);
      else await enqueue(tasks);
      const short = new Operator(QUEUE, {
        transport: manyAtOnce(roomFor(rig.transport, 2)),
        now: () => rig.now,
      });
      // A purge of pending tasks begins with the held ones, of which there are none here.
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

  test("is refused by settings of a newer release", async () => {
    await someOfAll();
    await rig.command("HSET", key("tasks"), "~set", "2;x");
    const before = await rig.keySpace();
    for (const state of ["pending", "delayed", "completed", "rejected"] as const) {
      await expect(rig.operator().purge({ state })).rejects.toMatchObject({ code: "newer_schema" });
    }
    expect(await rig.keySpace()).toEqual(before);
  });

  test("removes an entry of the list that is not deliverable, and counts it as broken", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "lost"]));
    await rig.command("HDEL", key("tasks"), "lost");
    expect(await rig.operator().purge({ state: "pending" })).toMatchObject({ purged: 1, cursor: null });
    expect(await queue.counts()).toMatchObject({ pending: 0, broken: 1 });
  });
});

describe("an option that is misspelt or of the wrong type", () => {
  test.each<[string, (operator: ReturnType<typeof rig.operator>) => Promise<unknown>, string]>([
    ["in purge with a dry run", (o) => o.purge({ state: "pending", dryRun: true } as never), "dryRun"],
    ["in purge with a misspelt filter", (o) => o.purge({ state: "pending", groups: "a" } as never), "groups"],
    ["in redrive with a text for dryRun", (o) => o.redrive({ dryRun: "yes" } as never), "dryRun"],
    ["in redrive of a single id", (o) => o.redrive("d1" as never), "options"],
    ["in redrive with a misspelt filter", (o) => o.redrive({ txt: "x" } as never), "txt"],
    ["in list with a misspelt filter", (o) => o.list({ state: "pending", txt: "x" } as never), "txt"],
    ["in peek of a number", (o) => o.peek(5 as never), "options"],
  ])("%s is refused and changes nothing", async (_, call, path) => {
    await rig.queue().enqueueMany([{ payload: 1 }, { payload: 2 }]);
    const before = await rig.keySpace();
    await expect(call(rig.operator())).rejects.toMatchObject({ code: "invalid_argument", path });
    expect(await rig.keySpace()).toEqual(before);
  });
});
