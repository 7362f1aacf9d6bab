/** The first call of a function instance, which finds out by it that the queue has partitions. */
import { beforeEach, describe, expect, test } from "vitest";
import { instances } from "../../support/instances.ts";
import { many } from "../../support/new-tasks.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
const { between, queueOf, operatorOf, schedulesOf, resize } = instances(rig);

describe("the first call of an instance", () => {
  beforeEach(() => resize(4));

  test("keeps a dedup key to one task: an id in another slot is refused", async () => {
    const dedup = { key: "customer-5", window: "1h" } as const;
    for (let i = 0; i < 8; i++) {
      const refused = { code: "invalid_argument", path: "dedup.key" };
      await expect(queueOf().enqueue(1, { id: `order-${i}`, dedup })).rejects.toMatchObject(refused);
    }
    const refused = { code: "invalid_argument", path: "tasks[1].dedup.key" };
    const tasks = [{ payload: 1 }, { payload: 2, id: "order-7", dedup }];
    await expect(queueOf().enqueueMany(tasks)).rejects.toMatchObject(refused);
    expect((await queueOf().counts()).pending).toBe(0);
    const key = "customer-5{order-7}";
    const fits = await queueOf().enqueue(1, { id: "order-7", dedup: { ...dedup, key } });
    expect(fits).toEqual({ id: "order-7", created: true });
  });

  test("refuses such a task alone, if several calls share the request", async () => {
    const queue = queueOf();
    const answers = await Promise.allSettled([
      queue.enqueue(1, { id: "a" }),
      queue.enqueue(2, { id: "b", dedup: { key: "customer-5", window: "1h" } }),
      queue.enqueue(3),
    ]);
    expect(answers).toMatchObject([
      { status: "fulfilled", value: { id: "a", created: true } },
      { status: "rejected", reason: { code: "invalid_argument", path: "dedup.key" } },
      { status: "fulfilled", value: { created: true } },
    ]);
    expect((await queue.counts()).pending).toBe(2);
  });

  test("finds a partition that has room, if partition 0 is full", async () => {
    await operatorOf().configure({ maxPending: 8 });
    for (let i = 0; i < 6; i++) expect(await queueOf().enqueue(i)).toMatchObject({ created: true });
    expect(await queueOf().enqueueMany(many(2))).toMatchObject([{ created: true }, { created: true }]);
    await expect(queueOf().enqueue(9)).rejects.toMatchObject({ code: "queue_full" });
    await expect(queueOf().enqueue(9, { id: "placed" })).rejects.toMatchObject({ code: "queue_full" });
    expect((await queueOf().counts()).pending).toBe(8);
  });

  test("refuses a schedule whose tasks no partition may have", async () => {
    const schedules = schedulesOf();
    const put = schedules.put("daily{other}", { every: "1h", payload: 1, group: "g" });
    await expect(put).rejects.toMatchObject({ code: "invalid_argument", path: "name" });
    expect((await schedules.list()).schedules).toEqual([]);
  });
});

describe("a queue that gets partitions while a run over its tasks goes on", () => {
  /** An operator before whose second request the queue gets partitions. */
  const meeting = () =>
    operatorOf(
      undefined,
      between(1, () => resize(2)),
    );

  test("loses no more of them by a purge than its limit allows, and they are counted", async () => {
    await queueOf().enqueueMany(many(400));
    const report = await meeting().purge({ state: "pending", limit: 200 });
    expect(report).toMatchObject({ purged: 200 });
    expect((await queueOf().counts()).pending).toBe(200);
    const rest = await operatorOf().purge({ state: "pending", cursor: report.cursor ?? "" });
    expect(rest).toEqual({ purged: 200, cursor: null, unreadable: 0 });
  });

  test("gets no more of them back by a redrive", async () => {
    const queue = queueOf();
    await queue.enqueueMany(many(400));
    const tasks = await queue.dequeue({ max: 400 });
    await queue.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "reject" as const })));
    expect(await meeting().redrive({ reason: "rejected", limit: 200 })).toMatchObject({ redriven: 200 });
    expect(await queueOf().counts()).toMatchObject({ pending: 200, rejected: 200 });
  });
});
