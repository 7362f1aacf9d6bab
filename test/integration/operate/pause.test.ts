import { expect, test } from "vitest";
import { instances } from "../../support/instances.ts";
import { many } from "../../support/new-tasks.ts";
import { QUEUE, START, useRig } from "../../support/rig.ts";

const rig = useRig();
const { queueOf, operatorOf } = instances(rig);
const PAUSED = [0, true, null];

test("a paused queue delivers nothing to any instance, from the next request on, and reports why", async () => {
  const queue = rig.queue();
  await queue.enqueueMany([...many(2), ...["a", "a", "b"].map((group) => ({ payload: group, group }))]);
  await queue.enqueue("first", { priority: 9 });
  await queue.dequeue();
  expect(await operatorOf().pause()).toMatchObject({ paused: true });
  const before = await rig.keySpace();
  for (const one of [queue, queueOf(), rig.queue()]) {
    const batch = await one.dequeue({ max: 10 });
    expect([batch.length, batch.paused, batch.nextDueAt]).toEqual(PAUSED);
  }
  expect((await queue.settleAndDequeue([], { max: 10 })).tasks.paused).toBe(true);
  expect(await rig.keySpace()).toEqual(before);
  expect(await queue.counts()).toMatchObject({ pending: 5, working: 1, paused: true });
  expect(await operatorOf().resume()).toMatchObject({ paused: false });
  const batch = await queue.dequeue({ max: 10 });
  // The shares of groups are as they were.
  expect([batch.map(({ payload }) => payload), batch.paused]).toEqual([[0, "a", "b", 1, "a"], false]);
  expect((await rig.space()).tasks.has("~set")).toBe(false);
});

test("pausing and resuming register a queue without tasks", async () => {
  await rig.operator().pause();
  expect((await rig.keySpace())["sluice:queues"]).toEqual({ zset: [[QUEUE, START]] });
});
