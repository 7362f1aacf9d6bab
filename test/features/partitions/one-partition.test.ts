import { describe, expect, test } from "vitest";
import { countQueues } from "../../../src/index.ts";
import { instances } from "../../support/instances.ts";
import { many } from "../../support/new-tasks.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

const rig = useRig();
const { now, instance, operatorOf, queueOf, map, run } = instances(rig);

/** Sweeps each minute, until only partition 0 is left in the map. */
async function sweepToOne(transport = instance()): Promise<void> {
  for (let i = 0; i < 200 && (await map()).former.length > 0; i++) {
    rig.now += 60_000;
    await run(transport);
  }
  expect((await map()).former).toEqual([]);
}

/** A queue that has had two partitions, and has one again, with that many tasks and that limit. */
async function shrunk(maxWorking: number, tasks: number) {
  const operator = operatorOf();
  await operator.configure({ maxWorking });
  await operator.resize(2);
  await operator.resize(1);
  const queue = queueOf("stored");
  return { operator, queue, fill: () => queue.enqueueMany(many(tasks)) };
}

describe("a queue that has one partition again", () => {
  test("follows a change of its limits from the next dequeue on", async () => {
    const { operator, queue, fill } = await shrunk(4, 20);
    await sweepToOne();
    await fill();
    await operator.configure({ maxWorking: 10 });
    expect(await queue.dequeue({ max: 20 })).toHaveLength(10);
  });

  test("is counted by an instance that knows only its name", async () => {
    const { fill } = await shrunk(4, 20);
    await sweepToOne();
    await fill();
    expect(await countQueues(instance(), [QUEUE], { now })).toMatchObject([{ queue: QUEUE, pending: 20 }]);
  });

  test("gets the whole of its limit, though the sweep that removed the other partition stopped then", async () => {
    const { queue, fill } = await shrunk(4, 20);
    const stopping = instance(async () => {
      if ((await map()).former.length === 0) throw new Error("it stops");
    });
    await expect(sweepToOne(stopping)).rejects.toThrow("it stops");
    expect((await map()).former).toEqual([]);
    await fill();
    rig.now += 60_000;
    await run();
    expect(await queue.dequeue({ max: 20 })).toHaveLength(4);
  });
});
