import { beforeEach, expect, test, describe } from "vitest";
import type { EnqueueOptions, Queue, NewTask } from "../../src/index.ts";
import { numbered } from "../support/new-tasks.ts";
import { useRig } from "../support/rig.ts";
import { encrypting } from "../support/encrypting.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));

test.each<[what: string, options: EnqueueOptions]>([
  ["an id", { id: "a" }],
  ["a dedup key", { dedup: { key: "order-17", window: "10s" } }],
])("of four producers that race for %s exactly one gets created: true", async (_, options) => {
  const made = await Promise.all([1, 2, 3, 4].map((n) => rig.queue().enqueue(n, options)));
  expect(made.filter(({ created }) => created)).toHaveLength(1);
  expect(new Set(made.map(({ id }) => id)).size).toBe(1);
  expect(await queue.dequeue({ max: 9 })).toHaveLength(1);
});

test("an id whose task has ended begins again with `again`, once, also if the request arrives several times and late", async () => {
  await queue.enqueue(1, { id: "a" });
  const [first] = await queue.dequeue();
  await first?.complete("first");
  const again = () => queue.enqueue(2, { id: "a", again: true, idempotencyKey: "once" });
  expect(await again()).toEqual({ id: "a", created: true });
  const begun = { state: "pending", attempt: 0, charged: 0, version: 4 };
  expect(await queue.get("a")).toMatchObject(begun);
  expect(await again()).toEqual({ id: "a", created: true });
  const [second] = await queue.dequeue();
  expect(second).toMatchObject({ id: "a", payload: 2, attempt: 1 });
  expect(await first?.requeue()).toMatchObject({ ok: false, code: "lease_lost" });
  await second?.complete("second");
  expect(await again()).toEqual({ id: "a", created: true });
  expect(await queue.get("a")).toMatchObject({ state: "completed", result: "second" });
  expect((await rig.space()).pending).toEqual([]);
});

test("a dedup key does not keep its own id from a new task", async () => {
  const options = { id: "a", dedup: { key: "k", window: "1h" }, resultTtl: 0 } as const;
  await queue.enqueue(1, options);
  await (await queue.dequeue())[0]?.complete();
  rig.now += 300_000;
  await rig.sweepOnce();
  expect(await queue.enqueue(2, { id: "b", dedup: options.dedup })).toEqual({ id: "a", created: false });
  expect(await queue.enqueue(2, options)).toEqual({ id: "a", created: true });
});

test("ended ids begin again in batches of a thousand", async () => {
  const tasks = numbered(1_000).map((task) => ({ ...task, again: true }));
  await queue.enqueueMany(tasks);
  const batch = await queue.dequeue({ max: 1_000 });
  await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "reject", error: 1 })));
  expect((await queue.enqueueMany(tasks)).every(({ created }) => created)).toBe(true);
  const space = await rig.space();
  expect([space.pending.length, space.dead.size, space.expiry.size]).toEqual([1_000, 0, 0]);
});

type Task = NewTask<unknown>;

const reused = { code: "idempotency_key_reused", path: "idempotencyKey" };
const idempotencyKey = "key-1";

describe("an idempotency key with other tasks is refused and changes nothing (I3)", () => {
  const first: Task[] = [{ payload: "one" }];
  test.each<[string, Task[], Task[]]>([
    ["another payload", first, [{ payload: "other" }]],
    ["more tasks", first, [{ payload: "one" }, { payload: "two" }, { payload: "three" }]],
    ["fewer tasks", [{ payload: "one" }, { payload: "two" }], first],
    ["another option", first, [{ payload: "one", maxAttempts: 2 }]],
    ["another delay", first, [{ payload: "one", delay: 1 }]],
    ["a dedup key", first, [{ payload: "one", dedup: { key: "d", window: 1_000 } }]],
    ["another task under the same id", [{ payload: 1, id: "a" }], [{ payload: 2, id: "a" }]],
    ["`again`", [{ payload: 1, id: "a" }], [{ payload: 1, id: "a", again: true }]],
    [
      "an id beside one that stays",
      [{ payload: 1, id: "a" }, { payload: 2 }],
      [{ payload: 1, id: "b" }, { payload: 2 }],
    ],
    ["another group", first, [{ payload: "one", group: "g" }]],
  ])("%s", async (_, tasks, others) => {
    const created = await queue.enqueueMany(tasks, { idempotencyKey });
    const before = await rig.keySpace();
    await expect(queue.enqueueMany(others, { idempotencyKey })).rejects.toMatchObject(reused);
    expect(await rig.keySpace()).toEqual(before);
    expect(await queue.enqueueMany(tasks, { idempotencyKey })).toEqual(created);
  });

  test("but other queue options, other keys, and no key are accepted", async () => {
    const { created } = await rig.queue().enqueue(1, { idempotencyKey });
    expect(created).toBe(true);
    const again = await rig.queue({ lease: "1m", delay: "1s" }).enqueue(1, { idempotencyKey });
    expect(again.created).toBe(true);
    expect((await rig.queue().enqueue(2, { idempotencyKey: "key-2" })).created).toBe(true);
    expect((await rig.queue().enqueue(2)).created).toBe(true);
    expect((await rig.space()).pending).toHaveLength(3);
  });

  test("but encrypted payloads are not compared", async () => {
    const queue = rig.queue({ encryption: encrypting() });
    const first = await queue.enqueue({ secret: 1 }, { idempotencyKey });
    expect(await queue.enqueue({ secret: 1 }, { idempotencyKey })).toEqual(first);
    expect(await queue.enqueue({ secret: 2 }, { idempotencyKey })).toEqual(first);
    await expect(queue.enqueue({ secret: 1 }, { idempotencyKey, priority: 1 })).rejects.toMatchObject(reused);
    expect((await rig.space()).pending).toHaveLength(1);
  });
});
