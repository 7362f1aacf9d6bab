import { describe, expect, test } from "vitest";
import type { LeasedTask, ListTasksOptions } from "../../src/index.ts";
import { shownReason } from "../../src/kernel/errors/reason-text.ts";
import { bury } from "../support/dead-letters.ts";
import { START, useRig } from "../support/rig.ts";
import { named } from "../support/new-tasks.ts";
import { paging } from "../support/paging.ts";

const rig = useRig();
const { listed } = paging(rig);
const dead = async (filter: Partial<ListTasksOptions>) =>
  (await listed({ state: "rejected", ...filter })).toSorted();

describe("a search finds exactly the matching tasks", () => {
  test("by text, byte for byte", async () => {
    const errors = {
      plain: "connect ECONNREFUSED 10.0.0.1:443",
      pattern: "100% of [a-z]+ (.*) $^ %d %b()",
      quoted: 'he said "no" \\ and\nleft\t\u0000',
      unicode: "Größe 🦦 \ud800",
      object: { code: 42, message: "payment declined" },
      long: `${"x".repeat(3_000)}end`,
      json: "j",
      letters: ";G=a;y=lease_expired",
    };
    await bury(
      rig.queue(),
      Object.entries(errors).map(([id, payload]) => ({ id, payload })),
    );
    const searches: [text: string, ...found: (keyof typeof errors)[]][] = [
      ["ECONNREFUSED", "plain"],
      ["econnrefused"],
      ["%", "pattern"],
      ["[a-z]+ (.*) $^", "pattern"],
      ["%d", "pattern"],
      [".", "pattern", "plain"],
      ['"no" \\ and\nleft', "quoted"],
      ["\u0000", "quoted"],
      ["Größe 🦦", "unicode"],
      ["\ud800", "unicode"],
      ["declined", "object"],
      ["42", "object"],
      ["xend", "long"],
      ["j", "json"],
      [";G=a;", "letters"],
      ["\n;G=a"],
      ["nowhere"],
    ];
    for (const [text, ...found] of searches)
      expect([text, ...(await dead({ text }))]).toEqual([text, ...found]);
  });

  test("by text in results and in the last errors of waiting tasks, but never in bytes", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["done", "bytes", "again", "later", "fresh"]));
    const [done, bytes, again, later] = await queue.dequeue({ max: 4 });
    await done?.complete({ note: "needle" });
    await bytes?.complete(new TextEncoder().encode("needle"));
    await again?.requeue({ error: "needle" });
    await later?.requeue({ error: "a needle", delay: "1m" });
    for (const [state, id] of [
      ["completed", "done"],
      ["pending", "again"],
      ["delayed", "later"],
    ] as const)
      expect(await listed({ state, text: "needle" })).toEqual([id]);
    expect(await listed({ state: "completed", text: "bmVlZGxl" })).toEqual([]);
  });

  test("by the text that is shown of a task without an error of its own", async () => {
    const queue = rig.queue();
    const lives = {
      lost: {},
      "failed-lost": { maxAttempts: 2 },
      "lost-failed": { maxAttempts: 2 },
      "lost-waits": { maxAttempts: 3 },
      "lost-done": { maxAttempts: 2 },
      final: {},
      failed: {},
      "used-up": {},
      gone: {},
    };
    for (const [id, options] of Object.entries(lives))
      await queue.enqueue("p", { id, maxAttempts: 1, ...options });
    await queue.cancel("gone");
    const attempt = async (how: Record<string, (task: LeasedTask) => Promise<unknown>>) => {
      // A task whose lease expired travels in a smaller batch.
      for (let i = 0; i < 4; i++)
        for (const task of await queue.dequeue({ max: 10, lease: 5_000 })) await how[task.id]?.(task);
      rig.now += 5_000;
      await rig.sweepOnce();
    };
    await attempt({
      "failed-lost": (task) => task.requeue({ error: "needle", delay: 5_000 }),
      final: (task) => task.reject(),
      failed: (task) => task.reject("needle"),
      "used-up": (task) => task.requeue(),
    });
    await attempt({
      "lost-failed": (task) => task.reject("needle"),
      "lost-waits": (task) => task.requeue({ delay: "1h" }),
      "lost-done": (task) => task.complete("needle"),
    });
    const found = async (text: string) => [
      await listed({ state: "delayed", text }),
      await dead({ text }),
      await listed({ state: "completed", text }),
    ];
    expect(await found("the lease expired: crashed")).toEqual([["lost-waits"], ["failed-lost", "lost"], []]);
    expect(await found("rejected it for good")).toEqual([[], ["final"], []]);
    expect(await found("attempts are used up")).toEqual([[], ["used-up"], []]);
    // It is still the last error, and `get` returns it.
    const failed = ["failed", "failed-lost", "lost-failed"];
    expect(await found("needle")).toEqual([[], failed, ["lost-done"]]);
    expect(await dead({ reason: "cancelled", text: "cancelled" })).toEqual(["gone"]);
    // Each text that is shown finds its task.
    const { tasks } = await rig.operator().list({ state: "rejected" });
    for (const task of tasks)
      expect(await dead({ text: shownReason(task) ?? String(task.error) })).toContain(task.id);
    expect(await rig.operator().redrive({ text: "the lease" })).toMatchObject({ redriven: 2 });
  });

  test("by the text that is shown of a task that an operator took back", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([
      ...named(["dead"], { maxAttempts: 1 }),
      ...named(["waits", "failed", "expired"]),
    ]);
    const tasks = await queue.dequeue({ max: 3, worker: { name: "w" } });
    await tasks[2]?.requeue({ error: "an operator took it back" });
    await rig.operator().failWorker("w");
    const text = "an operator took it back from its worker";
    expect([await dead({ text }), await listed({ state: "pending", text })]).toEqual([["dead"], ["waits"]]);
    expect(await dead({ reason: "taken_back" })).toEqual(["dead"]);
    expect(await dead({ reason: "lease_expired" })).toEqual([]);
    // Then its lease expires.
    await queue.dequeue({ lease: 5_000 });
    rig.now += 5_000;
    await rig.sweepOnce();
    expect(await listed({ state: "pending", text: "operator" })).toEqual(["failed"]);
    expect(await listed({ state: "pending", text: "the lease expired" })).toEqual(["waits"]);
  });

  test("by group, reason and time, alone and together", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([
      ...named(["a1", "a2"], { group: "a" }),
      ...named(["b1", "b2"], { group: "b", maxAttempts: 1 }),
      ...named(["none"]),
    ]);
    const tasks = new Map((await queue.dequeue({ max: 5, lease: 5_000 })).map((task) => [task.id, task]));
    for (const id of ["a1", "a2", "none"]) {
      rig.now += 1_000;
      await tasks.get(id)?.reject(`failed ${id}`);
    }
    await tasks.get("b2")?.requeue();
    rig.now = START + 5_000;
    await rig.sweepOnce();
    expect(await dead({ group: "a" })).toEqual(["a1", "a2"]);
    expect(await dead({ group: "c" })).toEqual([]);
    expect(await dead({ reason: "lease_expired" })).toEqual(["b1"]);
    expect(await dead({ reason: ["attempts_exhausted", "lease_expired"] })).toEqual(["b1", "b2"]);
    expect(await dead({ reason: "rejected", group: "b" })).toEqual([]);
    expect(await dead({ group: "a", text: "a2" })).toEqual(["a2"]);
    expect(await dead({ endedSince: START + 2_000 })).toEqual(["a2", "b1", "b2", "none"]);
    expect(await dead({ endedUntil: START + 2_000 })).toEqual(["a1"]);
    expect(await dead({ endedSince: START + 5_001 })).toEqual([]);
    expect(await dead({ enqueuedSince: START, enqueuedUntil: START + 1 })).toHaveLength(5);
    expect(await dead({ enqueuedUntil: START })).toEqual([]);
    // A task that has not ended has no end time.
    await queue.enqueue("p", { id: "p" });
    expect(await listed({ state: "pending", endedUntil: START + 1e9 })).toEqual([]);
    expect(await listed({ state: "pending", enqueuedSince: START + 5_000 })).toEqual(["p"]);
  });
});
