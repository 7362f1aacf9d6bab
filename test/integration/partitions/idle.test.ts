import { beforeEach, describe, expect, test } from "vitest";
import { Queue, Schedules, sweep } from "../../../src/index.ts";
import { slotOf } from "../../../src/queue/core/partition-slots.ts";
import { fetchMap } from "../../../src/queue/partitions/map-calls.ts";
import { resizeQueue } from "../../../src/queue/partitions/resize.ts";
import type { Transport } from "../../../src/queue/redis/transport.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

// Which partitions consumers and sweeps visit: none that has work may be recorded as idle.

const rig = useRig({ checkInvariants: false });
const instance = (): Transport => ({ send: (commands, options) => rig.transport.send(commands, options) });
const queueOf = (partitions?: number, transport = instance()) =>
  new Queue(QUEUE, { transport, partitions, now: () => rig.now });
const place = () => ({ name: QUEUE, prefix: undefined, transport: rig.transport, now: () => rig.now });
const score = async (partition: number) =>
  Number(await rig.command("ZSCORE", "sluice:queues", `${QUEUE}/${partition}`));

/** An id whose slot a partition owns. */
async function idOf(partition: number): Promise<string> {
  const { owners } = await fetchMap(place());
  for (let i = 0; ; i++) if (owners[slotOf(`t${i}`)] === partition) return `t${i}`;
}

/** Polls with new instances, as functions do, until the idle partitions are recorded. */
async function poll(times = 3): Promise<number> {
  let found = 0;
  for (let i = 0; i < times; i++) found += (await queueOf(4).dequeue({ max: 10 })).length;
  return found;
}

beforeEach(() => resizeQueue(place(), 4));

describe("a partition that was found without ready tasks", () => {
  test("is idle until its next task is due, then it is visited again", async () => {
    await queueOf(4).enqueue(1, { id: await idOf(2), delay: "1h" });
    expect(await score(2)).toBe(rig.now);
    await poll();
    expect(await score(2), "its note is too new").toBe(rig.now);
    rig.now += 121_000;
    await poll();
    expect(await score(2)).toBe(rig.now - 121_000 + 3_600_000);
    rig.now += 3_600_000;
    expect(await poll()).toBe(1);
  });

  test("is idle without an end if nothing is due, and a note makes it active again", async () => {
    const id = await idOf(3);
    await queueOf(4).enqueue(1, { id });
    const [task] = await queueOf(4).dequeue();
    await task?.complete();
    const at = rig.now;
    rig.now += 121_000;
    await poll();
    expect(await score(3)).toBe(-at);
    await queueOf(4).enqueue(2, { id: `${id}{${id}}` });
    expect(await score(3)).toBe(rig.now);
    expect(await poll()).toBe(1);
  });

  test.each([
    { from: "that take from it", others: 0 },
    { from: "that only look at it, because others have tasks", others: 40 },
  ])("is not idle for consumers $from while tasks wait behind a limit of their group", async ({ others }) => {
    const group = await idOf(1);
    const partition = queueOf(4)["keysOf"](1);
    await rig.command("HSET", partition.tasks, `~s:${group}`, "1;m=1;n=1");
    await rig.command("HSET", partition.tasks, "~groups", "1");
    await queueOf(4).enqueueMany([1, 2].map((payload) => ({ payload, group })));
    const [first] = await queueOf(4).dequeue({ lease: "1h" });
    expect(await rig.command("EXISTS", partition.limited)).toBe(1);
    rig.now += 121_000;
    const other = await idOf(2);
    await queueOf(4).enqueueMany(
      Array.from({ length: others }, (_, i) => ({ payload: 0, id: `${i}{${other}}` })),
    );
    for (let i = 0; i < others; i++) expect((await queueOf(4).dequeue())[0]?.payload).toBe(0);
    if (others === 0) expect(await poll()).toBe(0);
    // At most as long as a dequeue says that it waits for such tasks.
    expect(await score(1)).toBeLessThanOrEqual(rig.now + 1_000);
    await first?.complete();
    rig.now += 1_000;
    expect(await poll()).toBe(1);
  });

  test("is active again for a task that is requeued", async () => {
    await queueOf(4).enqueue(1, { id: await idOf(3) });
    const [task] = await queueOf(4).dequeue({ lease: "1h" });
    rig.now += 121_000;
    await poll();
    expect(await score(3)).toBeGreaterThan(rig.now);
    const transport = instance();
    await queueOf(4, transport).settle([{ receipt: task?.receipt ?? "", outcome: "requeue" }]);
    expect(await score(3)).toBe(rig.now);
    expect(await poll()).toBe(1);
  });
});

describe("partition 0, to which schedules and producers add that do not know of partitions", () => {
  /** Another partition stays in use, so that consumers have others to visit. */
  const others = async () => queueOf(4).enqueueMany([{ payload: 0, id: await idOf(1), delay: "2h" }]);

  beforeEach(async () => {
    await queueOf(4).enqueue(1, { id: await idOf(0), delay: "1d" });
    rig.now += 121_000;
    await poll();
    await others();
  });

  test("is visited when a schedule has added a task", async () => {
    const schedules = new Schedules(QUEUE, { transport: instance(), now: () => rig.now });
    await schedules.put("tick", { every: "1m", payload: "tock" });
    rig.now += 60_000;
    expect(await sweep(rig.transport, { now: () => rig.now })).toMatchObject({ scheduled: 1 });
    expect(await score(0)).toBeLessThanOrEqual(rig.now);
    expect(await poll()).toBe(1);
  });

  test("is visited when such a producer has added a task", async () => {
    await queueOf(undefined).enqueue(1);
    expect(await score(0)).toBeLessThanOrEqual(rig.now);
    expect(await poll()).toBe(1);
  });
});
