import { describe, expect, test } from "vitest";
import type { ListTasksOptions } from "../../src/index.ts";
import { bury } from "../support/dead-letters.ts";
import { key, START, useRig } from "../support/rig.ts";
import { named, sortedIds } from "../support/new-tasks.ts";
import { paging } from "../support/paging.ts";

const rig = useRig();
const { pages } = paging(rig);
const STATES = ["pending", "delayed", "working", "completed", "rejected"] as const;

test("tasks are listed with their payloads on request, beside headers, results and errors", async () => {
  const queue = rig.queue();
  await queue.enqueueMany(named(["working", "completed", "rejected"]));
  const [, completed, rejected] = await queue.dequeue({ max: 3 });
  await completed?.complete({ sum: 3 });
  await rejected?.reject("no such address");
  await queue.enqueue(new Uint8Array([0, 255]), { id: "pending", headers: { a: "ü\n" } });
  await queue.enqueue("later", { id: "delayed", delay: "1m" });
  // Its timer is among the delayed tasks.
  await queue.heartbeat({ name: "w", silentAfter: "1h" });
  const found = await Promise.all(STATES.map((state) => rig.operator().list({ state, payloads: true })));
  expect(found.map(({ cursor, unreadable }) => [cursor, unreadable])).toEqual(STATES.map(() => [null, 0]));
  const all = found.flatMap(({ tasks }) => tasks);
  expect(all.map(({ id, payload, headers, result, error }) => [id, payload, headers, result, error])).toEqual(
    [
      ["pending", new Uint8Array([0, 255]), { a: "ü\n" }, undefined, undefined],
      ["delayed", "later", undefined, undefined, undefined],
      ["working", "working", undefined, undefined, undefined],
      ["completed", undefined, undefined, { sum: 3 }, undefined],
      ["rejected", "rejected", undefined, undefined, "no such address"],
    ],
  );
});

describe("page by page", () => {
  const ids = sortedIds(25);

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
      expect(shown).toEqual(ids.slice(0, 16));
    }
  });

  test("orders ids by their bytes, as Redis does", async () => {
    const strange = ["Z", "a", "A", "a!", "a-b", "aB", "ab", "a~", "0", "z", "a_b"];
    await rig.queue().enqueueMany(named(strange, { delay: "1m" }));
    const inOrder = strange.toSorted((a, b) => (a < b ? -1 : 1));
    const found = await pages({ state: "delayed", size: 1 }, async () => {
      const [first] = [...(await rig.space()).delayed.keys()];
      if (first !== undefined) await rig.queue().cancel(first);
    });
    expect(found.flat()).toEqual(inOrder);
  });

  test("is bounded in bytes: a page of large payloads is cut, and the next one continues", async () => {
    const some = ids.slice(0, 6);
    await rig.queue().enqueueMany(some.map((id) => ({ id, payload: "x".repeat(100_000) })));
    const paged = (options: Partial<ListTasksOptions>) => pages({ state: "pending", ...options });
    const pairs = [some.slice(0, 2), some.slice(2, 4), some.slice(4, 6)];
    expect(await paged({ payloads: true, maxBytes: 250_000 })).toEqual(pairs);
    expect(await paged({ payloads: true, maxBytes: 1 })).toHaveLength(6);
    expect(await paged({ maxBytes: 250_000 })).toEqual([some]);
  });

  test("looks at no more than a thousand tasks a call", async () => {
    await bury(rig.queue(), [...named(sortedIds(1_000)), { id: "u", payload: "needle" }]);
    expect(await pages({ state: "rejected", text: "needle" })).toEqual([[], ["u"]]);
  });
});

test("an unreadable record hides no other task: it is left out and counted", async () => {
  const queue = rig.queue();
  await bury(queue, named(["a", "b", "c", "d"]));
  await queue.enqueueMany(named(["p1", "p2", "p3"]));
  const intact = (await rig.space()).tasks;
  // Of a newer release, invalid, and none.
  await rig.command("HSET", key("tasks"), ".b", "2;x\n", "c", "1;5;h=4\n{no}j1");
  await rig.command("HDEL", key("tasks"), "p2");
  for (const [state, ids, unreadable] of [
    ["rejected", ["a", "d"], 2],
    ["pending", ["p1", "p3"], 1],
  ] as const) {
    const page = await rig.operator().list({ state, payloads: true });
    expect([page.tasks.map(({ id }) => id), page.unreadable]).toEqual([ids, unreadable]);
  }
  for (const field of [".b", "c", "p2"])
    await rig.command("HSET", key("tasks"), field, intact.get(field) ?? "");
});
