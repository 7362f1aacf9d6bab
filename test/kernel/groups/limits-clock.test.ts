import { beforeEach, describe, expect, test } from "vitest";
import { deepSweep, type Queue } from "../../../src/index.ts";
import type { Rate } from "../../../src/operate/settings.ts";
import { many } from "../../support/new-tasks.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));

const HOUR = 3_600_000;

/** Limits the queue or a group, and enqueues 100 tasks. */
async function limit(which: string, rate: Rate): Promise<void> {
  const isQueue = which === "a queue";
  await (isQueue ? rig.operator().configure({ rate }) : rig.operator().configureGroup("g", { rate }));
  await queue.enqueueMany(many(100, isQueue ? {} : { group: "g" }));
}

/** The number of tasks dequeued in `periods` seconds, with ten dequeues a second. */
async function givenWithin(queue: Queue, periods: number): Promise<number> {
  let given = 0;
  for (let pulls = 0; pulls < 10 * periods; pulls++) {
    rig.now += 100;
    given += (await queue.dequeue({ max: 10 })).length;
  }
  return given;
}

describe("a rate loses at most one period after a clock that jumps back an hour (law 4)", () => {
  test.each(["a queue", "a group, whose other tasks are held"])("of %s", async (which) => {
    await limit(which, { most: 5, per: "1s" });
    expect(await queue.dequeue({ max: 10 })).toHaveLength(5);
    rig.now -= HOUR;
    // No period exceeds the rate, either.
    expect(await givenWithin(queue, 1)).toBe(0);
    expect(await givenWithin(queue, 2)).toBeGreaterThanOrEqual(5);
  });

  test("of more groups than one dequeue handles", async () => {
    const groups = Array.from({ length: 70 }, (_, i) => `g${i}`);
    for (const group of groups) {
      await rig.operator().configureGroup(group, { rate: { most: 1, per: "1s" } });
    }
    await queue.enqueueMany(groups.flatMap((group) => many(3, { group })));
    expect(await queue.dequeue({ max: 100 })).toHaveLength(70);
    rig.now -= HOUR;
    for (let i = 0; i < 3; i++) expect(await queue.dequeue()).toHaveLength(0);
    rig.now += 1_100;
    expect(await queue.dequeue({ max: 100 })).toHaveLength(70);
    // The field that notes the jump is removed with it.
    expect((await rig.space()).tasks.get("~fair")).not.toMatch(/;c=/);
  });

  test("of a group whose tasks are ready, with a maxWorking besides", async () => {
    await rig.operator().configureGroup("g", { rate: { most: 2, per: "1s" }, maxWorking: 3 });
    await queue.enqueueMany(many(10, { group: "g" }));
    const first = await queue.dequeue({ max: 10 });
    expect(first).toHaveLength(2);
    rig.now -= HOUR;
    await first[0]?.complete();
    await queue.enqueueMany(many(3, { group: "g" }));
    rig.now += 1_100;
    expect(await queue.dequeue({ max: 10 })).toHaveLength(2);
  });
});

test.each([1, 200])(
  "a deep sweep after such a jump finds nothing wrong with a group of %i tasks",
  async (count) => {
    await rig.operator().configureGroup("g", { rate: { most: 5, per: "1s" } });
    await queue.enqueueMany(many(count, { group: "g" }));
    await queue.dequeue({ max: 10 });
    rig.now -= HOUR;
    const { faults } = await deepSweep(rig.transport, { queue: QUEUE, now: () => rig.now });
    expect(faults).toEqual([]);
  },
);
