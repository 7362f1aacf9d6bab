import { describe, expect, test } from "vitest";
import type { ListTasksOptions, TaskState } from "../../../src/index.ts";
import { bury } from "../../support/dead-letters.ts";
import { START, useRig } from "../../support/rig.ts";
import { named } from "../../support/new-tasks.ts";
import { paging } from "../../support/paging.ts";

const rig = useRig();
const { listed } = paging(rig);

describe("a search finds exactly the matching tasks", () => {
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
  ])("by the text %j", async (text, found) => {
    await mixed();
    expect((await listed({ state: "rejected", text })).toSorted()).toEqual(found.toSorted());
  });

  test("by text in results and in the last errors of waiting tasks, but never in bytes", async () => {
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
    // A task that has not ended has no end time.
    await queue.enqueue("p", { id: "p" });
    expect(await listed({ state: "pending", endedUntil: START + 1e9 })).toEqual([]);
    expect(await listed({ state: "pending", enqueuedSince: START + 5_000 })).toEqual(["p"]);
  });
});
