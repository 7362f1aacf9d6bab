import { beforeEach, describe, expect, test } from "vitest";
import type { Queue } from "../../../src/index.ts";
import { resp } from "../../../src/transport/resp.ts";
import { numbered } from "../../support/new-tasks.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));

describe("a dedup key", () => {
  const dedup = { key: "order-17", window: "10s" } as const;

  test("is dropped by the sweep after its window, and not before, also if the window was begun again", async () => {
    await queue.enqueue(1, { dedup });
    rig.now += 10_000;
    await queue.enqueue(2, { dedup });
    await rig.sweepOnce();
    expect((await rig.space()).tasks.has("~d:order-17")).toBe(true);
    rig.now += 10_000;
    await rig.sweepOnce();
    const after = await rig.space();
    expect([after.tasks.has("~d:order-17"), after.expiry.size]).toEqual([false, 0]);
    expect(after.pending).toHaveLength(2);
  });

  test("of four racing producers exactly one gets created: true", async () => {
    const reported = await Promise.all([1, 2, 3, 4].map((n) => queue.enqueue(n, { dedup })));
    expect(reported.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(reported.map(({ id }) => id)).size).toBe(1);
  });

  test.each([
    [{ key: "", window: 1 }, "dedup.key"],
    [{ key: "a b", window: 1 }, "dedup.key"],
    [{ key: "a", window: 0 }, "dedup.window"],
    [{ key: "a" }, "dedup.window"],
    [null, "dedup"],
  ])("%j is refused and changes nothing", async (wrong, path) => {
    const refused = rig.queue().enqueue(1, { dedup: wrong as never });
    await expect(refused).rejects.toMatchObject({ code: "invalid_argument", path });
    expect(await rig.keySpace()).toEqual({});
  });
});

describe("an id whose task has ended", () => {
  test("begins again with `again`, once, also if the request arrives several times and late", async () => {
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

  test("begins again in batches of a thousand", async () => {
    const tasks = numbered(1_000).map((task) => ({ ...task, again: true }));
    await queue.enqueueMany(tasks);
    const batch = await queue.dequeue({ max: 1_000 });
    await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "reject", error: 1 })));
    expect((await queue.enqueueMany(tasks)).every(({ created }) => created)).toBe(true);
    const space = await rig.space();
    expect([space.pending.length, space.dead.size, space.expiry.size]).toEqual([1_000, 0, 0]);
  });

  test("can begin again only with an id and without a dedup key", async () => {
    await expect(queue.enqueue(1, { again: true })).rejects.toMatchObject({ path: "again" });
    const both = { id: "a", again: true, dedup: { key: "k", window: 1 } };
    await expect(queue.enqueue(1, both)).rejects.toMatchObject({ path: "again" });
    expect(await rig.keySpace()).toEqual({});
  });
});

test("of several producers that race for one id exactly one gets created: true, and its task is the only one", async () => {
  const connections = Array.from({ length: 4 }, () => resp(rig.redis.url));
  const producers = connections.map((transport) => rig.queue({ transport }));
  try {
    for (let round = 0; round < 25; round++) {
      const id = `t${round}`;
      const reported = await Promise.all(
        producers.flatMap((queue, i) => [
          queue.enqueue(`one ${i}`, { id }),
          queue.enqueue(`again ${i}`, { id, again: true }),
          queue.enqueueMany([{ payload: `many ${i}`, id }, { payload: "beside" }]).then(([first]) => first),
        ]),
      );
      expect(reported.map((answer) => answer?.id)).toEqual(reported.map(() => id));
      const created = reported.flatMap((answer, i) => (answer?.created ? [i] : []));
      expect(created).toHaveLength(1);
      const winner = ["one", "again", "many"][(created[0] ?? 0) % 3];
      const all = await rig.queue().dequeue({ max: 20 });
      expect(all.filter((task) => task.id === id).map(({ payload }) => payload)).toEqual([
        `${winner} ${Math.floor((created[0] ?? 0) / 3)}`,
      ]);
      expect(all).toHaveLength(1 + producers.length);
      await Promise.all(all.map((task) => task.complete()));
    }
  } finally {
    await Promise.all(connections.map((connection) => connection.close()));
  }
});
