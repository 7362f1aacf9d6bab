import { describe, expect, test } from "vitest";
import { instances } from "../../support/instances.ts";
import { many } from "../../support/new-tasks.ts";
import { QUEUE, START, useRig } from "../../support/rig.ts";

const rig = useRig();
const { queueOf, operatorOf } = instances(rig);
const PAUSED = [0, true, null];

describe("a paused queue", () => {
  test("delivers nothing to any instance, from the next request on, and reports why", async () => {
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

  test("answers copies of a dequeue like the first one, and returns tasks that it leased before (law 5)", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(many(2));
    const [first] = await queue.dequeue({ token: "token-01" });
    await rig.operator().pause();
    for (let copy = 0; copy < 3; copy++) {
      const batch = await queue.dequeue({ token: "token-02" });
      expect([batch.length, batch.paused, batch.nextDueAt]).toEqual(PAUSED);
      const again = await queue.dequeue({ token: "token-01" });
      expect([again[0]?.receipt, again.length, again.paused]).toEqual([first?.receipt, 1, false]);
    }
    await rig.operator().resume();
    // A late first copy leases nothing.
    expect([...(await queue.dequeue({ token: "token-02" }))]).toEqual([]);
    expect(await queue.dequeue()).toHaveLength(1);
  });
});

describe("pausing and resuming", () => {
  test("register a queue without tasks", async () => {
    await rig.operator().pause();
    expect((await rig.keySpace())["sluice:queues"]).toEqual({ zset: [[QUEUE, START]] });
  });

  test("a copy of a pause that arrives after the resume does nothing (law 5)", async () => {
    const operator = rig.operator();
    await operator.pause({ idempotencyKey: "one" });
    await operator.resume({ idempotencyKey: "two" });
    expect(await operator.pause({ idempotencyKey: "one" })).toMatchObject({ paused: false });
    expect(await operator.pause({ idempotencyKey: "three" })).toMatchObject({ paused: true });
  });
});
