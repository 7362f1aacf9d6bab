import { expect, test } from "vitest";
import { applyQueues, defineQueue, type QueueDeclaration } from "../../../src/index.ts";
import { owning } from "../../../src/queue/partitions/map.ts";
import { instances } from "../../support/instances.ts";
import { many, numbered } from "../../support/new-tasks.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

const rig = useRig({ checkInvariants: false });
const { now, dying, queueOf, operatorOf, map, resize, run, sweepAll, drainAll } = instances(rig);

test("a change of how many partitions there are that stopped at any point is completed by another caller, or by a sweep", async () => {
  await resize(4);
  await queueOf(4).enqueueMany(numbered(50));
  const completed: number[] = [];
  for (let stopAfter = 1; stopAfter <= 10; stopAfter++) {
    await resize(stopAfter % 2 ? 7 : 4, dying(stopAfter)).catch(() => undefined);
    const { next } = await map();
    const producer = queueOf(4);
    for (let i = 0; i < 50; i += 7) {
      expect((await producer.enqueue(i, { id: `t${i}` })).created).toBe(false);
      expect((await producer.enqueue(i, { id: `u${stopAfter}-${i}` })).created).toBe(true);
    }
    if (next && !(await map()).next) completed.push(stopAfter);
    await run();
    expect((await map()).next).toBe(undefined);
  }
  // Once slots are sealed, producers do not wait for a sweep.
  expect(completed.length).toBeGreaterThan(0);
  expect((await drainAll(queueOf(4))).length).toBe(50 + 10 * 8);
});

test("sweeps search a partition that keeps some of its slots, until it knows nothing of others", async () => {
  await resize(2);
  const producer = queueOf(2);
  const keys = Array.from({ length: 30 }, (_, i) => `key-${i}`);
  await producer.enqueueMany(keys.map((key) => ({ payload: 1, dedup: { key, window: "3h" } })));
  await producer.enqueueMany(numbered(300));
  await resize(4);
  expect((await map()).former).toEqual([0, 1]);
  const passes = async (minutes: number) => {
    for (let i = 0; i < minutes; i += 15) {
      rig.now += 900_000;
      await sweepAll();
    }
  };
  await passes(120);
  expect((await map()).former).toEqual([0, 1]);
  await drainAll(queueOf(4));
  await passes(45);
  // The dedup keys are still in use.
  expect((await map()).former).toEqual([0, 1]);
  await passes(120);
  expect((await map()).former).toEqual([]);
  expect(await rig.command("HKEYS", "{sluice:queues}:maps")).toEqual([QUEUE]);
  expect(await queueOf(4).enqueue(1, { id: "t3" })).toEqual({ id: "t3", created: true });
});

test("a deployment gives a declared queue the number of partitions that it declares", async () => {
  const apply = (declaration: QueueDeclaration) =>
    applyQueues(rig.transport, [defineQueue(QUEUE, declaration)], { now });
  expect((await apply({ partitions: 4, statistics: true })).applied).toEqual([QUEUE]);
  expect(owning(await map())).toEqual([0, 1, 2, 3]);
  expect((await apply({ partitions: 4, statistics: true })).applied).toEqual([]);
  await apply({ partitions: 2, statistics: true });
  expect(owning(await map())).toEqual([0, 1]);
  await apply({ statistics: true });
  expect(owning(await map())).toEqual([0]);
  expect(() => defineQueue(QUEUE, { partitions: 63 })).toThrow(
    "partitions must be a whole number from 1 to 62",
  );
});

test("new partitions have the settings of the queue and its groups, and shares of its limits", async () => {
  await resize(2);
  const operator = operatorOf(2);
  await operator.configure({ maxWorking: 10, statistics: true });
  await operator.configureGroup("g", { maxWorking: 2 });
  expect(await operator.resize(6)).toBe(6);
  expect(await operatorOf(2).settings()).toMatchObject({ maxWorking: 10, statistics: true });
  await queueOf(6).enqueueMany([...numbered(60), ...many(20, { group: "g" })]);
  for (let minute = 0; minute < 4; minute++) {
    for (let i = 0; i < 20; i++) await queueOf(6).dequeue({ max: 20 });
    expect((await queueOf(6).counts()).working).toBeLessThanOrEqual(10);
    rig.now += 60_000;
    await run();
  }
  expect((await queueOf(6).counts()).working).toBe(10);
});
