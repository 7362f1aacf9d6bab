import { beforeEach, describe, expect, test } from "vitest";
import type { Queue } from "../../../src/index.ts";
import { resp } from "../../../src/transport/resp.ts";
import { ghostsOf } from "../../support/key-space.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));

describe("a dedup key", () => {
  const dedup = { key: "order-17", window: "10s" } as const;

  test("creates the first task of its window; the others change nothing and get its id", async () => {
    const first = await queue.enqueue("first", { dedup });
    expect(first.created).toBe(true);
    const before = await rig.keySpace();
    rig.now += 9_999;
    expect(await queue.enqueue("second", { dedup })).toEqual({ id: first.id, created: false });
    expect(await queue.enqueue("third", { dedup, id: "mine" })).toEqual({ id: first.id, created: false });
    expect(await rig.keySpace()).toEqual(before);
  });

  test("belongs to its first task during the window, also if that has ended, and then to another", async () => {
    const first = await queue.enqueue("first", { dedup });
    await (await queue.dequeue())[0]?.complete();
    expect(await queue.enqueue("second", { dedup })).toEqual({ id: first.id, created: false });
    rig.now += 10_000;
    const later = await queue.enqueue("later", { dedup });
    expect(later.created).toBe(true);
    expect(later.id).not.toBe(first.id);
  });

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

  test("within one batch belongs to the first task with it", async () => {
    const added = await queue.enqueueMany([
      { payload: 1, dedup },
      { payload: 2, dedup },
      { payload: 3, dedup: { key: "order-18", window: 1_000 } },
      { payload: 4 },
    ]);
    expect(added.map(({ created }) => created)).toEqual([true, false, true, true]);
    expect(added[1]?.id).toBe(added[0]?.id);
    expect((await queue.dequeue({ max: 10 })).map(({ payload }) => payload)).toEqual([1, 3, 4]);
  });

  test("is scoped to its queue", async () => {
    const elsewhere = rig.queue({ prefix: "other" });
    expect((await rig.queue().enqueue(1, { dedup })).created).toBe(true);
    expect((await elsewhere.enqueue(1, { dedup })).created).toBe(true);
  });

  test("of a request that is sent again returns created: true again, with and without a caller's id", async () => {
    for (const id of [undefined, "mine"]) {
      const options = {
        dedup: { key: `key-${id}`, window: "1m" },
        id,
        idempotencyKey: `call-${id}`,
      } as const;
      const first = await queue.enqueue(1, options);
      expect(first.created).toBe(true);
      expect(await queue.enqueue(1, options)).toEqual(first);
    }
    expect((await rig.space()).pending).toHaveLength(2);
  });

  test("of four racing producers exactly one gets created: true", async () => {
    const reported = await Promise.all([1, 2, 3, 4].map((n) => queue.enqueue(n, { dedup })));
    expect(reported.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(reported.map(({ id }) => id)).size).toBe(1);
  });

  test("does not begin its window if the id is another task's", async () => {
    await queue.enqueue(1, { id: "taken" });
    expect(await queue.enqueue(2, { id: "taken", dedup })).toEqual({ id: "taken", created: false });
    expect((await queue.enqueue(3, { dedup })).created).toBe(true);
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
  test.each(["complete", "reject", "cancel"] as const)("begins again after %s with `again`", async (end) => {
    await queue.enqueue("first", { id: "daily" });
    if (end === "cancel") await queue.cancel("daily");
    else await (await queue.dequeue())[0]?.[end]("said");
    const ended = await queue.get("daily");
    expect(await queue.enqueue("no", { id: "daily" })).toEqual({ id: "daily", created: false });

    rig.now += 1_000;
    expect(await queue.enqueue("second", { id: "daily", again: true })).toEqual({
      id: "daily",
      created: true,
    });
    const begun = await queue.get("daily");
    expect(begun).toMatchObject({ state: "pending", attempt: 0, charged: 0, enqueuedAt: rig.now });
    expect(begun).not.toHaveProperty("result");
    expect(begun).not.toHaveProperty("endedAt");
    expect(begun?.version).toBeGreaterThan(ended?.version ?? 0);
    expect((await rig.space()).expiry.size).toBe(0);

    const [task] = await queue.dequeue({ max: 5 });
    expect(task).toMatchObject({ id: "daily", payload: "second", attempt: 1 });
    expect(await task?.complete()).toMatchObject({ ok: true });
  });

  test("does not begin again while its task has not ended", async () => {
    await queue.enqueue(1, { id: "a" });
    await queue.enqueue(1, { id: "b", delay: "1m" });
    const before = await rig.keySpace();
    for (const id of ["a", "b"]) {
      expect(await queue.enqueue(2, { id, again: true })).toEqual({ id, created: false });
    }
    expect(await rig.keySpace()).toEqual(before);
    await queue.dequeue();
    expect(await queue.enqueue(2, { id: "a", again: true })).toEqual({ id: "a", created: false });
  });

  test("begins again once, also if the request arrives several times and late", async () => {
    await queue.enqueue(1, { id: "a" });
    await (await queue.dequeue())[0]?.complete();
    const again = () => queue.enqueue(2, { id: "a", again: true, idempotencyKey: "once" });
    expect(await again()).toEqual({ id: "a", created: true });
    expect(await again()).toEqual({ id: "a", created: true });
    await (await queue.dequeue())[0]?.complete("second");
    expect(await again()).toEqual({ id: "a", created: true });
    expect(await queue.get("a")).toMatchObject({ state: "completed", result: "second" });
    expect((await rig.space()).pending).toEqual([]);
  });

  test("gives lease_lost to a stale receipt of its last life", async () => {
    await queue.enqueue(1, { id: "a" });
    const [old] = await queue.dequeue();
    await old?.complete();
    await queue.enqueue(2, { id: "a", again: true });
    await queue.dequeue();
    expect(await old?.requeue()).toMatchObject({ ok: false, code: "lease_lost" });
  });

  test("takes the place of its ghost, or its place in a new group", async () => {
    await queue.enqueue(1, { id: "a" });
    await queue.enqueue(1, { id: "b" });
    await queue.cancel("a");
    await queue.cancel("b");
    await queue.enqueue(2, { id: "a", again: true });
    await queue.enqueue(2, { id: "b", again: true, group: "g", delay: 10 });
    expect(ghostsOf(await rig.space())).toBe(1);
    rig.now += 10;
    const both = await queue.dequeue({ max: 5 });
    expect(both.map(({ id, group }) => [id, group])).toEqual([
      ["a", undefined],
      ["b", "g"],
    ]);
    expect(ghostsOf(await rig.space())).toBe(0);
  });

  test("begins again in batches of a thousand", async () => {
    const tasks = Array.from({ length: 1_000 }, (_, i) => ({ payload: i, id: `id-${i}`, again: true }));
    await queue.enqueueMany(tasks);
    await queue.settle(
      (await queue.dequeue({ max: 1_000 })).map(({ receipt }) => ({ receipt, outcome: "reject", error: 1 })),
    );
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

describe("a result", () => {
  test("is kept for the ttl of the settlement, else of the task, else the default", async () => {
    await queue.enqueueMany([{ payload: 1, resultTtl: "1h" }, { payload: 2, deadTtl: "1h" }, { payload: 3 }]);
    const [a, b, c] = await queue.dequeue({ max: 3 });
    await a?.complete("kept", { ttl: "10m" });
    await b?.reject("kept", { ttl: "2d" });
    await c?.complete("not kept", { ttl: 0 });
    const { expiry } = await rig.space();
    expect([a, b, c].map((task) => (expiry.get(task?.id ?? "") ?? 0) - rig.now)).toEqual([
      600_000, 172_800_000, 300_000,
    ]);
    expect(await queue.get(c?.id ?? "")).not.toHaveProperty("result");
  });
});
