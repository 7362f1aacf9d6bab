import { describe, expect, test } from "vitest";
import { Queue } from "../../../src/index.ts";
import { slotOf } from "../../../src/queue/core/partition-slots.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
const partitioned = (partitions = 8) => rig.queue({ partitions });

describe("a queue with partitions", () => {
  test("delivers each of 1,000 tasks once, from all partitions", async () => {
    const queue = partitioned();
    const enqueued: string[] = [];
    for (let i = 0; i < 10; i++) {
      const added = await queue.enqueueMany(
        Array.from({ length: 100 }, (_, j) => ({ payload: 100 * i + j })),
      );
      enqueued.push(...added.map(({ id }) => id));
    }
    expect(new Set(enqueued.map((id) => id.at(-1))).size).toBe(8);
    expect((await queue.counts()).pending).toBe(1_000);
    const done: string[] = [];
    for (;;) {
      const tasks = await queue.dequeue({ max: 64 });
      if (tasks.length === 0) break;
      const settled = await queue.settle(
        tasks.map(({ receipt }) => ({ receipt, outcome: "complete" as const })),
      );
      expect(settled.every(({ ok }) => ok)).toBe(true);
      done.push(...tasks.map(({ id }) => id));
    }
    expect(done.toSorted()).toEqual(enqueued.toSorted());
    expect(await queue.counts()).toMatchObject({ pending: 0, working: 0 });
    expect(await queue.get(enqueued[7] ?? "")).toMatchObject({ state: "completed" });
  });

  test("ids of the caller are unique over all instances, and found by id alone", async () => {
    const ids = Array.from({ length: 50 }, (_, i) => `order-${i}`);
    for (const id of ids) {
      expect(await partitioned().enqueue(id, { id })).toEqual({ id, created: true });
      expect(await partitioned().enqueue(id, { id })).toEqual({ id, created: false });
    }
    for (const id of ids) expect(await partitioned().get(id)).toMatchObject({ id, state: "pending" });
    expect(await partitioned().cancel("order-7")).toEqual({ ok: true, state: "rejected" });
    expect(await partitioned().get("order-51")).toBe(null);
  });

  test("a group is in one partition, and in order", async () => {
    const queue = partitioned();
    for (let i = 0; i < 30; i++) await queue.enqueue(i, { group: `g${i % 3}` });
    const seen = new Map<string, unknown[]>();
    const partitions = new Map<string, Set<string>>();
    for (;;) {
      const [task] = await queue.dequeue();
      if (!task) break;
      const group = String(task.group);
      seen.set(group, [...(seen.get(group) ?? []), task.payload]);
      const partition = task.receipt.startsWith("2.") ? (task.receipt.split(".")[1] ?? "") : "0";
      partitions.set(group, (partitions.get(group) ?? new Set()).add(partition));
      await task.complete();
    }
    for (const [group, payloads] of seen) {
      expect(payloads).toEqual(Array.from({ length: 10 }, (_, i) => 3 * i + Number(group.slice(1))));
      expect(partitions.get(group)?.size).toBe(1);
    }
  });

  test("an id and a dedup key of one task must be in one slot", async () => {
    const queue = partitioned();
    const dedup = { key: "customer-5", window: "1h" } as const;
    await expect(queue.enqueue(1, { id: "order-7", dedup })).rejects.toMatchObject({
      code: "invalid_argument",
      path: "dedup.key",
      message:
        'dedup.key must have the id of the task in braces, such as "customer-5{order-7}": in a queue with partitions ' +
        "both are then in the same partition",
    });
    for (const [id, key, example] of [
      ["order-8{customer-5}", "mail", "mail{customer-5}"],
      ["order-9", "mail{customer-5}", "mailcustomer-5{order-9}"],
    ] as const) {
      const task = (text: string) => queue.enqueue(1, { id, dedup: { key: text, window: "1h" } });
      await expect(task(key)).rejects.toMatchObject({
        message: expect.stringContaining(`such as "${example}"`),
      });
      expect((await task(example)).created).toBe(true);
    }
    const inOne = { id: "order-7", dedup: { key: "customer-5{order-7}", window: "1h" } } as const;
    expect(await queue.enqueue(1, inOne)).toEqual({ id: "order-7", created: true });
    expect(await queue.enqueue(1, { ...inOne, id: "other{order-7}" })).toEqual({
      id: "order-7",
      created: false,
    });
  });

  test("a task with an id and a group is where its id says, or where its group is if the id names it", async () => {
    const queue = partitioned();
    const groups = Array.from({ length: 20 }, (_, i) => `customer-${i}`);
    for (const group of groups) {
      expect((await queue.enqueue(1, { id: `order-7-${group}`, group })).created).toBe(true);
      // The id is known, whatever the group.
      expect((await queue.enqueue(2, { id: `order-7-${group}`, group: "other" })).created).toBe(false);
      expect(await queue.get(`order-7-${group}`)).toMatchObject({ state: "pending", group });
    }
    expect(slotOf("order-7{customer-5}")).toBe(slotOf("customer-5"));
    const { id } = await queue.enqueue(1, { id: "order-7{customer-5}", group: "customer-5" });
    expect(await queue.get(id)).toMatchObject({ state: "pending" });
  });

  test("an idempotency key that comes again with another group is noticed only in the partition of that group", async () => {
    const queue = partitioned(2);
    const groups = Array.from({ length: 9 }, (_, i) => `customer-${i}`);
    const half = (group: string | undefined) => Math.floor(slotOf(group ?? "") / 128);
    const [first] = groups;
    const same = groups.find((group) => group !== first && half(group) === half(first));
    const other = groups.find((group) => half(group) !== half(first));
    const enqueue = (group: string | undefined) => queue.enqueue(1, { group, idempotencyKey: "once" });
    const { id } = await enqueue(first);
    expect(await enqueue(first)).toEqual({ id, created: true });
    await expect(enqueue(same)).rejects.toMatchObject({ code: "idempotency_key_reused" });
    expect(await enqueue(other)).toEqual({ id, created: true });
    expect((await queue.counts()).pending).toBe(2);
  });

  test("a settle and dequeue in one request goes over partitions", async () => {
    const queue = partitioned(4);
    await queue.enqueueMany(Array.from({ length: 40 }, (_, i) => ({ payload: i, id: `n${i}` })));
    let tasks = await queue.dequeue({ max: 5 });
    const done = new Set<string>();
    while (tasks.length > 0) {
      for (const { id } of tasks) done.add(id);
      const settlements = tasks.map(({ receipt }) => ({ receipt, outcome: "complete" as const }));
      const reply = await queue.settleAndDequeue(settlements, { max: 5 });
      expect(reply.settled.every(({ ok }) => ok)).toBe(true);
      tasks = reply.tasks;
    }
    expect(done.size).toBe(40);
  });

  test("a producer that does not know of the partitions learns of them", async () => {
    await partitioned(4).enqueue(0, { id: "known" });
    const unaware = new Queue("emails", { transport: rig.transport, now: () => rig.now });
    expect(await unaware.enqueue(1, { id: "known" })).toEqual({ id: "known", created: false });
    for (let i = 0; i < 20; i++) expect((await unaware.enqueue(i, { id: `id${i}` })).created).toBe(true);
    for (let i = 0; i < 20; i++)
      expect((await partitioned(4).enqueue(i, { id: `id${i}` })).created).toBe(false);
  });
});
