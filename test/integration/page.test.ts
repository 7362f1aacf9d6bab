import { describe, expect, test } from "vitest";
import type { ListTasksOptions, TaskState } from "../../src/index.ts";
import { bury } from "../support/dead-letters.ts";
import { key, START, useRig } from "../support/rig.ts";
import { named, sortedIds } from "../support/new-tasks.ts";

const rig = useRig();

/** All pages of a list: their ids. */
async function pages(options: ListTasksOptions, between = async () => {}): Promise<string[][]> {
  const found: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = await rig.operator().list({ ...options, cursor });
    found.push(page.tasks.map(({ id }) => id));
    cursor = page.cursor ?? undefined;
    await between();
  } while (cursor !== undefined);
  return found;
}

const listed = async (options: ListTasksOptions) => (await pages(options)).flat();

/** One task in each state, and one that was cancelled. */
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
    "%s: each as get shows it, and no others",
    async (state) => {
      await oneOfEach();
      const before = await rig.keySpace();
      const page = await rig.operator().list({ state });
      expect(page).toEqual({ tasks: [await rig.queue().get(state)], cursor: null, unreadable: 0 });
      expect(await rig.keySpace()).toEqual(before);
    },
  );

  test("with their payloads where that is asked for, beside headers, results and errors", async () => {
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

  test("cancelled ones are shown where their reason is asked for, and nowhere else", async () => {
    await oneOfEach();
    expect(await listed({ state: "rejected", reason: "cancelled" })).toEqual(["cancelled"]);
    expect(await listed({ state: "rejected" })).toEqual(["rejected"]);
  });

  test("of an empty queue, and of one whose ends have passed, are none", async () => {
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

  test("do not include keys of deduplication, timers or lost workers, which share their places", async () => {
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
    "%s: all in order, none twice, also where hundreds have the same time",
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

  test("goes on where it was after the members that it had shown are gone, of one time or of many", async () => {
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

  test("orders ids by their bytes, as Redis does, whatever they are", async () => {
    const strange = ["Z", "a", "A", "a!", "a-b", "aB", "ab", "a~", "0", "z", "a b".replace(" ", "_")];
    await rig.queue().enqueueMany(named(strange, { delay: "1m" }));
    const inOrder = strange.toSorted((a, b) => (a < b ? -1 : 1));
    const found = await pages({ state: "delayed", size: 1 }, async () => {
      const [first] = [...(await rig.space()).delayed.keys()];
      if (first !== undefined) await rig.queue().cancel(first);
    });
    expect(found.flat()).toEqual(inOrder);
  });

  test("does not go over its bounds: a page of records of a megabyte is cut, and the next goes on", async () => {
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

  test("looks at a thousand tasks a call, however few it finds", async () => {
    const queue = rig.queue();
    await bury(queue, [...named(sortedIds(2_000)), { id: "u", payload: "needle" }]);
    const found = await pages({ state: "rejected", text: "needle" });
    expect(found).toEqual([[], [], ["u"]]);
  });

  test("a cursor of another form, state or number is refused", async () => {
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

describe("pending tasks come in the order of delivery", () => {
  /** What dequeue gives, one by one. */
  async function delivered(): Promise<string[]> {
    const ids: string[] = [];
    for (;;) {
      const [task] = await rig.queue().dequeue();
      if (!task) return ids;
      ids.push(task.id);
      await task.complete();
    }
  }

  test("without cancelled ones, and each once, also where its own ghost is in the list", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "b", "c", "d"]));
    await queue.cancel("a");
    await queue.cancel("c");
    expect(await pages({ state: "pending", size: 1 })).toEqual([["b"], ["d"]]);
    rig.now += 300_000;
    await rig.sweepOnce();
    await queue.enqueueMany(named(["a", "c"], { delay: 1 }));
    expect(await listed({ state: "pending" })).toEqual(["b", "d"]);
    rig.now += 1;
    await rig.sweepOnce();
    expect((await listed({ state: "pending" })).toSorted()).toEqual(["a", "b", "c", "d"]);
    expect(await listed({ state: "delayed" })).toEqual([]);
  });

  test("a task of a group that its own ghost precedes in the list comes once, in its group's place", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "b"]));
    await queue.cancel("a");
    rig.now += 300_000;
    await rig.sweepOnce();
    await queue.enqueue("anew", { id: "a", group: "g" });
    expect((await listed({ state: "pending" })).toSorted()).toEqual(["a", "b"]);
  });

  test("with groups and priorities it is theirs, page by page too", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([
      ...named(["l0", "l1", "l2", "l3", "l4", "l5"]),
      ...named(["a0", "a1", "a2", "a3"], { group: "a" }),
      ...named(["b0", "b1"], { group: "b;%" }),
      ...named(["p0", "p1"], { priority: 9 }),
    ]);
    await queue.dequeue({ max: 3 });
    const whole = await listed({ state: "pending" });
    expect(whole).toHaveLength(11);
    expect((await pages({ state: "pending", size: 2 })).flat()).toEqual(whole);
    expect(await delivered()).toEqual(whole);
  });

  test("what a group's limit holds back comes last", async () => {
    await rig.operator().configureGroup("capped", { maxWorking: 1 });
    await rig
      .queue()
      .enqueueMany([
        ...named(["c0", "c1", "c2"], { group: "capped" }),
        ...named(["f0"], { group: "free" }),
        ...named(["l0"]),
      ]);
    const found = await pages({ state: "pending", size: 1 });
    expect(found.flat().slice(0, 3).toSorted()).toEqual(["c0", "f0", "l0"]);
    expect(found.flat().slice(3)).toEqual(["c1", "c2"]);
    expect(await delivered()).toEqual(found.flat());
  });

  test("peek gives the next ones with their payloads and leases none", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([
      ...named(["a", "b", "c"]),
      { id: "urgent", payload: { at: "once" }, priority: 5 },
    ]);
    const before = await rig.keySpace();
    expect((await rig.operator().peek({ max: 2 })).map(({ id, payload }) => [id, payload])).toEqual([
      ["urgent", { at: "once" }],
      ["a", "a"],
    ]);
    expect(await rig.operator().peek()).toHaveLength(4);
    expect(await rig.keySpace()).toEqual(before);
  });
});

describe("a search finds exactly what is meant", () => {
  async function mixed() {
    const queue = rig.queue();
    const errors: [id: string, error: unknown][] = [
      ["plain", "connect ECONNREFUSED 10.0.0.1:443"],
      ["pattern", "100% of [a-z]+ (.*) $^ %d %b()"],
      ["quoted", 'he said "no" \\ and\nleft\t\u0000'],
      ["unicode", "Größe 🦦 \ud800"],
      ["object", { code: 42, message: "payment declined" }],
      ["long", `${"x".repeat(3_000)}end`],
      ["json", "j"],
      ["letters", ";G=a;y=lease_expired"],
    ];
    await bury(
      queue,
      errors.map(([id, payload]) => ({ id, payload })),
    );
    return queue;
  }

  test.each([
    ["ECONNREFUSED", ["plain"]],
    ["econnrefused", []],
    ["%", ["pattern"]],
    ["[a-z]+ (.*) $^", ["pattern"]],
    ["%d", ["pattern"]],
    [".", ["plain", "pattern"]],
    ['"no" \\ and\nleft', ["quoted"]],
    ["\u0000", ["quoted"]],
    ["Größe 🦦", ["unicode"]],
    ["\ud800", ["unicode"]],
    ["declined", ["object"]],
    ["42", ["object"]],
    ["xend", ["long"]],
    ["j", ["json"]],
    [";G=a;", ["letters"]],
    ["\n;G=a", []],
    ["nowhere", []],
  ])("of the text %j", async (text, found) => {
    await mixed();
    expect((await listed({ state: "rejected", text })).toSorted()).toEqual(found.toSorted());
  });

  test("of text in results and in the last error of what waits or is worked on, and never in bytes", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["done", "bytes", "again", "later", "fresh"]));
    const [done, bytes, again, later] = await queue.dequeue({ max: 4 });
    await done?.complete({ note: "needle" });
    await bytes?.complete(new TextEncoder().encode("needle"));
    await again?.requeue({ error: "needle" });
    await later?.requeue({ error: "a needle", delay: "1m" });
    for (const [state, found] of Object.entries({
      completed: ["done"],
      pending: ["again"],
      delayed: ["later"],
    })) {
      expect(await listed({ state: state as TaskState, text: "needle" })).toEqual(found);
    }
    expect(await listed({ state: "completed", text: "bmVlZGxl" })).toEqual([]);
  });

  test("by group, reason and time, alone and together", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([
      ...named(["a1", "a2"], { group: "a" }),
      ...named(["b1"], { group: "b", maxAttempts: 1 }),
      ...named(["none"]),
    ]);
    const batch = await queue.dequeue({ max: 4, lease: 5_000 });
    for (const task of batch) {
      if (task.id === "b1") continue;
      rig.now += 1_000;
      await task.reject(`failed ${task.id}`);
    }
    rig.now = START + 5_000;
    await rig.sweepOnce();
    const ended = Object.fromEntries((await rig.space()).dead);
    const dead = async (filter: Partial<ListTasksOptions>) =>
      (await listed({ state: "rejected", ...filter })).toSorted();
    expect(await dead({ group: "a" })).toEqual(["a1", "a2"]);
    expect(await dead({ group: "c" })).toEqual([]);
    expect(await dead({ reason: "lease_expired" })).toEqual(["b1"]);
    expect(await dead({ reason: "rejected", group: "b" })).toEqual([]);
    expect(await dead({ group: "a", text: "a2" })).toEqual(["a2"]);
    expect(await dead({ endedSince: ended["a2"] })).toEqual(
      Object.keys(ended)
        .filter((id) => (ended[id] ?? 0) >= (ended["a2"] ?? 0))
        .toSorted(),
    );
    expect(await dead({ endedUntil: ended["a2"] })).toEqual(
      Object.keys(ended)
        .filter((id) => (ended[id] ?? 0) < (ended["a2"] ?? 0))
        .toSorted(),
    );
    expect(await dead({ endedSince: START + 5_001 })).toEqual([]);
    expect(await dead({ enqueuedSince: START, enqueuedUntil: START + 1 })).toHaveLength(4);
    expect(await dead({ enqueuedUntil: START })).toEqual([]);
    // What has not ended did so at no time.
    await queue.enqueue("p", { id: "p" });
    expect(await listed({ state: "pending", endedUntil: START + 1e9 })).toEqual([]);
    expect(await listed({ state: "pending", enqueuedSince: START + 5_000 })).toEqual(["p"]);
  });
});

describe("a record of a newer release, or one beyond reading, hides no other", () => {
  test("it is left out and counted", async () => {
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
