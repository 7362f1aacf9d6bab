import { describe, expect, test } from "vitest";
import type { ListTasksOptions, RejectReason, TaskState } from "../../../src/index.ts";
import { bury } from "../../support/dead-letters.ts";
import { key, START, useRig } from "../../support/rig.ts";
import { named, sortedIds } from "../../support/new-tasks.ts";
import { paging } from "../../support/paging.ts";

const rig = useRig();
const { pages, listed } = paging(rig);

/** One task in each state, and a cancelled one. */
async function oneOfEach() {
  const queue = rig.queue({ maxAttempts: 1 });
  await queue.enqueueMany(named(["working", "completed", "rejected", "cancelled", "pending"]));
  const [working, completed, rejected] = await queue.dequeue({ max: 3, lease: "1h" });
  await completed?.complete({ sum: 3 });
  await rejected?.reject("no such address");
  await queue.cancel("cancelled");
  await queue.enqueue("later", { id: "delayed", delay: "1m" });
  return working;
}

describe("the tasks of a state", () => {
  test.each(["pending", "delayed", "working", "completed", "rejected"] as const)(
    "%s: each as get returns it, and no others",
    async (state) => {
      await oneOfEach();
      const before = await rig.keySpace();
      const page = await rig.operator().list({ state });
      expect(page).toEqual({ tasks: [await rig.queue().get(state)], cursor: null, unreadable: 0 });
      expect(await rig.keySpace()).toEqual(before);
    },
  );

  test("fill a page, although records of other states come before them", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "b", "c", "d", "e", "f"]));
    for (const id of ["a", "b", "c", "d"]) await queue.cancel(id);
    for (const task of await queue.dequeue({ max: 2 })) await task.complete();
    expect(await pages({ state: "completed", size: 1 })).toEqual([["e"], ["f"]]);
    expect(await pages({ state: "completed", size: 2 })).toEqual([["e", "f"]]);
  });

  test("with payloads on request, beside headers, results and errors", async () => {
    await oneOfEach();
    await rig.queue().enqueue(new Uint8Array([0, 255]), { id: "bytes", headers: { a: "ü\n" } });
    const payloads = async (state: TaskState) => {
      const { tasks } = await rig.operator().list({ state, payloads: true });
      return tasks.map(({ id, payload, headers, result, error }) => [id, payload, headers, result, error]);
    };
    expect(await payloads("pending")).toEqual([
      ["pending", "pending", undefined, undefined, undefined],
      ["bytes", new Uint8Array([0, 255]), { a: "ü\n" }, undefined, undefined],
    ]);
    expect(await payloads("delayed")).toEqual([["delayed", "later", undefined, undefined, undefined]]);
    expect(await payloads("completed")).toEqual([["completed", undefined, undefined, { sum: 3 }, undefined]]);
    expect(await payloads("rejected")).toEqual([
      ["rejected", "rejected", undefined, undefined, "no such address"],
    ]);
  });

  test("match one of several reasons", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([
      { id: "rejected", payload: 1 },
      { id: "exhausted", payload: 1, maxAttempts: 1 },
      { id: "expired", payload: 1, maxAttempts: 1 },
    ]);
    const [rejected, exhausted] = await queue.dequeue({ max: 3, lease: "1s" });
    await rejected?.reject("bad");
    await exhausted?.requeue({ error: "again" });
    rig.now += 2_000;
    await rig.sweepOnce();
    const dead = async (...reason: RejectReason[]) =>
      (await listed({ state: "rejected", reason })).toSorted();
    expect(await dead("attempts_exhausted", "lease_expired")).toEqual(["exhausted", "expired"]);
    expect(await dead("rejected")).toEqual(["rejected"]);
    expect(await dead("rejected", "lease_expired")).toEqual(["expired", "rejected"]);
    expect(await dead("cancelled")).toEqual([]);
  });

  test("include cancelled tasks only if their reason is asked for", async () => {
    await oneOfEach();
    expect(await listed({ state: "rejected", reason: "cancelled" })).toEqual(["cancelled"]);
    expect(await listed({ state: "rejected" })).toEqual(["rejected"]);
  });

  test("of an empty queue, or after all records have expired, are none", async () => {
    expect(await rig.operator().list({ state: "pending" })).toEqual({
      tasks: [],
      cursor: null,
      unreadable: 0,
    });
    const working = await oneOfEach();
    await working?.complete();
    rig.now += 8 * 86_400_000;
    await rig.sweepOnce();
    expect(await listed({ state: "completed" })).toEqual([]);
    expect(await listed({ state: "rejected" })).toEqual([]);
    expect([...(await rig.space()).expiry]).toEqual([]);
  });

  test("do not include dedup keys, timers or lost workers, which are in the same keys", async () => {
    const queue = rig.queue();
    await queue.enqueue(1, { id: "a", dedup: { key: "k", window: "1d" } });
    await queue.dequeue({ worker: { name: "w", silentAfter: "1h" } });
    await rig.operator().failWorker("w");
    await queue.dequeue({ worker: { name: "w", silentAfter: "1h" } });
    const space = await rig.space();
    expect([space.expiry.size, space.delayed.size]).toEqual([2, 1]);
    for (const state of ["completed", "delayed"] as const) {
      expect(await listed({ state })).toEqual([]);
    }
    expect(await listed({ state: "rejected", reason: "cancelled" })).toEqual([]);
  });
});

describe("page by page", () => {
  const ids = sortedIds(25);

  test.each(["pending", "delayed", "working", "completed", "rejected"] as const)(
    "%s: all in order, none twice, also if many have the same time",
    async (state) => {
      const queue = rig.queue();
      if (state === "rejected") await bury(queue, named(ids));
      else await queue.enqueueMany(named(ids, state === "delayed" ? { delay: "1m" } : {}));
      if (state === "working" || state === "completed") {
        const batch = await queue.dequeue({ max: 25 });
        if (state === "completed") {
          await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "complete" as const })));
        }
      }
      const found = await pages({ state, size: 10 });
      expect(found).toEqual([ids.slice(0, 10), ids.slice(10, 20), ids.slice(20)]);
    },
  );

  test("continues after its place if the listed tasks were removed, at equal or different times", async () => {
    for (const step of [0, 1]) {
      await rig.command("FLUSHALL");
      const queue = rig.queue();
      for (const id of ids) {
        await queue.enqueue(id, { id, at: START + 60_000 + Number(id.slice(1)) * step });
      }
      const shown: string[] = [];
      const found = await pages({ state: "delayed", size: 5 }, async () => {
        const { tasks } = await rig.operator().list({ state: "delayed", size: 4 });
        for (const { id } of tasks) shown.push(id);
        for (const { id } of tasks) await queue.cancel(id);
      });
      expect(found.flat()).toEqual(ids);
      expect(shown).toEqual(ids.slice(0, 20));
    }
  });

  test("orders ids by their bytes, as Redis does", async () => {
    const strange = ["Z", "a", "A", "a!", "a-b", "aB", "ab", "a~", "0", "z", "a b".replace(" ", "_")];
    await rig.queue().enqueueMany(named(strange, { delay: "1m" }));
    const inOrder = strange.toSorted((a, b) => (a < b ? -1 : 1));
    const found = await pages({ state: "delayed", size: 1 }, async () => {
      const [first] = [...(await rig.space()).delayed.keys()];
      if (first !== undefined) await rig.queue().cancel(first);
    });
    expect(found.flat()).toEqual(inOrder);
  });

  test("is bounded in bytes: a page of large payloads is cut, and the next one continues", async () => {
    const queue = rig.queue();
    const big = "x".repeat(1_000_000);
    for (const id of ids.slice(0, 6)) await queue.enqueue(big, { id });
    expect(await pages({ state: "pending", payloads: true, maxBytes: 2_500_000 })).toEqual([
      ids.slice(0, 2),
      ids.slice(2, 4),
      ids.slice(4, 6),
    ]);
    expect(await pages({ state: "pending", payloads: true, maxBytes: 1 })).toHaveLength(6);
    expect(await pages({ state: "pending", maxBytes: 2_500_000 })).toEqual([ids.slice(0, 6)]);
  });

  test("looks at no more than a thousand tasks a call", async () => {
    const queue = rig.queue();
    await bury(queue, [...named(sortedIds(2_000)), { id: "u", payload: "needle" }]);
    const found = await pages({ state: "rejected", text: "needle" });
    expect(found).toEqual([[], [], ["u"]]);
  });

  test("refuses an invalid cursor, state or number", async () => {
    await oneOfEach();
    const list = (options: object) => rig.operator().list(options as ListTasksOptions);
    const refused = (path: string) => ({ code: "invalid_argument", path });
    for (const cursor of ["", "x", "1", "-1 a", "1 ", "(1 a", "1 a\n", "1e5 a", 7]) {
      await expect(list({ state: "delayed", cursor })).rejects.toMatchObject(refused("cursor"));
    }
    for (const cursor of ["1 a", "0 0 - 0", "-1 0 - 0 -", "1 2 a b 3 c"]) {
      await expect(list({ state: "pending", cursor })).rejects.toMatchObject(refused("cursor"));
    }
    for (const [name, value] of [
      ["state", "dead"],
      ["state", undefined],
      ["size", 0],
      ["size", 1_001],
      ["text", ""],
      ["text", "x".repeat(1_001)],
      ["group", "no group"],
      ["reason", "bored"],
      ["reason", []],
      ["reason", ["rejected", "bored"]],
      ["reason", ["rejected", "cancelled"]],
      ["endedSince", -1],
      ["endedUntil", 1.5],
      ["enqueuedSince", "yesterday"],
      ["enqueuedUntil", Number.NaN],
      ["maxBytes", 0],
    ] as const) {
      await expect(list({ state: "rejected", [name]: value })).rejects.toMatchObject(refused(name));
    }
  });
});

describe("an unreadable record hides no other task", () => {
  test("a record of a newer release, or an invalid one, is left out and counted", async () => {
    const queue = rig.queue();
    await bury(queue, named(["a", "b", "c", "d"]));
    const intact = (await rig.space()).tasks;
    await rig.command("HSET", key("tasks"), ".b", "2;x\n", "c", "1;5;h=4\n{no}j1");
    const page = await rig.operator().list({ state: "rejected", payloads: true });
    expect([page.tasks.map(({ id }) => id), page.unreadable]).toEqual([["a", "d"], 2]);
    for (const field of [".b", "c"]) await rig.command("HSET", key("tasks"), field, intact.get(field) ?? "");
  });

  test("an id without a record is left out and counted", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "b", "c"]));
    await rig.command("HDEL", key("tasks"), "b");
    const page = await rig.operator().list({ state: "pending" });
    expect([page.tasks.map(({ id }) => id), page.unreadable]).toEqual([["a", "c"], 1]);
    await rig.command("HSET", key("tasks"), "b", `1;${START}\nj1`);
  });
});
