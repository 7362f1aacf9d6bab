import { beforeEach, expect, test } from "vitest";
import type { EnqueueOptions, Queue } from "../../../src/index.ts";
import { numbered } from "../../support/new-tasks.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));

test.each([
  [{ key: "", window: 1 }, "dedup.key"],
  [{ key: "a b", window: 1 }, "dedup.key"],
  [{ key: "a", window: 0 }, "dedup.window"],
  [{ key: "a" }, "dedup.window"],
  [null, "dedup"],
])("the dedup key %j is refused and changes nothing", async (wrong, path) => {
  const refused = rig.queue().enqueue(1, { dedup: wrong as never });
  await expect(refused).rejects.toMatchObject({ code: "invalid_argument", path });
  expect(await rig.keySpace()).toEqual({});
});

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

test("ended ids begin again in batches of a thousand", async () => {
  const tasks = numbered(1_000).map((task) => ({ ...task, again: true }));
  await queue.enqueueMany(tasks);
  const batch = await queue.dequeue({ max: 1_000 });
  await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "reject", error: 1 })));
  expect((await queue.enqueueMany(tasks)).every(({ created }) => created)).toBe(true);
  const space = await rig.space();
  expect([space.pending.length, space.dead.size, space.expiry.size]).toEqual([1_000, 0, 0]);
});

test("an id can begin again only with an id and without a dedup key", async () => {
  await expect(queue.enqueue(1, { again: true })).rejects.toMatchObject({ path: "again" });
  const both = { id: "a", again: true, dedup: { key: "k", window: 1 } };
  await expect(queue.enqueue(1, both)).rejects.toMatchObject({ path: "again" });
  expect(await rig.keySpace()).toEqual({});
});
