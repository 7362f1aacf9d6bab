import { beforeEach, describe, expect, test } from "vitest";
import type { Queue } from "../../../src/index.ts";
import { dice } from "../../support/dice.ts";
import { controlFields } from "../../support/key-space.ts";
import { key, useRig } from "../../support/rig.ts";
import { many } from "../../support/new-tasks.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));

const working = async () => Number(await rig.command("ZCARD", key("working")));

test("maxWorking of a queue is never exceeded by callers at once, in batches or one by one, and all tasks get done", async () => {
  const most = 5;
  await rig.operator().configure({ maxWorking: most });
  await rig.queue().enqueueMany(many(150));
  const seen: number[] = [];
  let done = 0;
  const consume = async (queue: Queue, max: number) => {
    while (done < 150) {
      const tasks = await queue.dequeue({ max });
      seen.push(await working());
      for (const [i, task] of tasks.entries()) {
        if (i % 4 === 3) await task.requeue();
        else if ((await task.complete()).ok) done++;
      }
    }
  };
  await Promise.all([1, 2, 10, 100].map((max) => consume(rig.queue(), max)));
  expect(Math.max(...seen)).toBe(most);
  expect(done).toBe(150);
});

/** The largest number of dequeues in any period of `per` milliseconds. */
function busiest(times: readonly number[], per: number): number {
  return Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + per).length));
}

describe("rate of a queue", () => {
  test("bounds the dequeues in any period, at any times and batch sizes", async () => {
    for (let seed = 1; seed <= 12; seed++) {
      const roll = dice(seed);
      /** A whole number from 0 to `most`. */
      const any = (most: number) => Math.floor(roll() * (most + 1));
      await rig.command("FLUSHALL");
      const most = 1 + any(9);
      const per = [7, 10, 333, 1_000, 60_000][any(4)] ?? 1_000;
      await rig.operator().configure({ rate: { most, per } });
      await queue.enqueueMany(many(300));
      const times: number[] = [];
      for (let call = 0; call < 60; call++) {
        times.push(...(await queue.dequeue({ max: 1 + any(11) })).map(() => rig.now));
        rig.now += any(1) * any(Math.ceil(per / 2));
      }
      expect({ seed, most: busiest(times, per) }).toEqual({ seed, most });
    }
  });

  test("that is unset leaves no field behind, and allows every dequeue", async () => {
    await rig.operator().configure({ rate: { most: 1, per: "1d" } });
    await queue.enqueueMany(many(10));
    await queue.dequeue({ max: 5 });
    await rig.operator().configure({ rate: null });
    expect(controlFields(await rig.space(), /^~(rate|set)/)).toEqual({});
    expect(await queue.dequeue({ max: 20 })).toHaveLength(9);
  });
});
