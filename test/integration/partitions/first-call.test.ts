/** The first call of a function instance, which finds out by it that the queue has partitions. */
import { beforeEach, describe, expect, test } from "vitest";
import { Operator, Queue, Schedules, type Transport } from "../../../src/index.ts";
import { many } from "../../support/new-tasks.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

const rig = useRig();

/** A transport of another function instance, which remembers nothing. */
const instance = (): Transport => ({ send: (commands, options) => rig.transport.send(commands, options) });
const over = (transport: Transport) => ({ transport, now: () => rig.now });
const newQueue = () => new Queue(QUEUE, over(instance()));
const resize = (count: number) => new Operator(QUEUE, over(instance())).resize(count);
const ids = Array.from({ length: 8 }, (_, i) => `order-${i}`);

describe("the first call of an instance", () => {
  beforeEach(() => resize(4));

  test("keeps a dedup key to one task: an id in another slot is refused", async () => {
    const dedup = { key: "customer-5", window: "1h" } as const;
    for (const id of ids) {
      const refused = { code: "invalid_argument", path: "dedup.key" };
      await expect(newQueue().enqueue(1, { id, dedup })).rejects.toMatchObject(refused);
    }
    const refused = { code: "invalid_argument", path: "tasks[1].dedup.key" };
    const tasks = [{ payload: 1 }, { payload: 2, id: "order-7", dedup }];
    await expect(newQueue().enqueueMany(tasks)).rejects.toMatchObject(refused);
    expect((await newQueue().counts()).pending).toBe(0);
    const key = "customer-5{order-7}";
    const fits = await newQueue().enqueue(1, { id: "order-7", dedup: { ...dedup, key } });
    expect(fits).toEqual({ id: "order-7", created: true });
  });

  test("refuses such a task alone, if several calls share the request", async () => {
    const queue = newQueue();
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
    await new Operator(QUEUE, over(instance())).configure({ maxPending: 8 });
    for (let i = 0; i < 6; i++) expect(await newQueue().enqueue(i)).toMatchObject({ created: true });
    expect(await newQueue().enqueueMany(many(2))).toMatchObject([{ created: true }, { created: true }]);
    await expect(newQueue().enqueue(9)).rejects.toMatchObject({ code: "queue_full" });
    await expect(newQueue().enqueue(9, { id: "placed" })).rejects.toMatchObject({ code: "queue_full" });
    expect((await newQueue().counts()).pending).toBe(8);
  });

  test("refuses a schedule whose tasks no partition may have", async () => {
    const schedules = new Schedules(QUEUE, over(instance()));
    const put = schedules.put("daily{other}", { every: "1h", payload: 1, group: "g" });
    await expect(put).rejects.toMatchObject({ code: "invalid_argument", path: "name" });
    expect((await schedules.list()).schedules).toEqual([]);
  });
});

describe("a queue that gets partitions while a run over its tasks goes on", () => {
  /** The transport of an operator before whose second request the queue gets partitions. */
  const changing = (): Transport => {
    let sent = 0;
    return {
      async send(commands, options) {
        if (sent++ === 1) await resize(2);
        return rig.transport.send(commands, options);
      },
    };
  };

  test("loses no more of them by a purge than its limit allows, and they are counted", async () => {
    await newQueue().enqueueMany(many(400));
    const report = await new Operator(QUEUE, over(changing())).purge({ state: "pending", limit: 200 });
    expect(report).toMatchObject({ purged: 200 });
    expect((await newQueue().counts()).pending).toBe(200);
    const rest = await new Operator(QUEUE, over(instance())).purge({
      state: "pending",
      cursor: report.cursor ?? "",
    });
    expect(rest).toEqual({ purged: 200, cursor: null, unreadable: 0 });
  });

  test("gets no more of them back by a redrive", async () => {
    const queue = newQueue();
    await queue.enqueueMany(many(400));
    const tasks = await queue.dequeue({ max: 400 });
    await queue.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "reject" as const })));
    const operator = new Operator(QUEUE, over(changing()));
    expect(await operator.redrive({ reason: "rejected", limit: 200 })).toMatchObject({ redriven: 200 });
    expect(await newQueue().counts()).toMatchObject({ pending: 200, rejected: 200 });
  });
});
