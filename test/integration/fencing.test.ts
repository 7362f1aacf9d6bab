import { describe, expect, test } from "vitest";
import type { LeasedTask, Settlement } from "../../src/index.ts";
import { useRig } from "../support/rig.ts";

const rig = useRig();

const outcomes = ["complete", "reject", "requeue", "extend"] as const;

async function leased() {
  const queue = rig.queue();
  await queue.enqueue("work", { id: "a" });
  const [task] = await queue.dequeue({ lease: 1_000 });
  return { queue, task: task as LeasedTask };
}

describe("fencing (I2 I3)", () => {
  test.each(outcomes)("%s with the receipt of a reclaimed lease changes nothing", async (outcome) => {
    const { queue, task } = await leased();
    rig.now += 1_000;
    await rig.sweepOnce();
    const unheld = await rig.keySpace();
    expect(await queue.settle([{ receipt: task.receipt, outcome }])).toEqual([
      { receipt: task.receipt, ok: false, code: "lease_lost" },
    ]);
    expect(await rig.keySpace()).toEqual(unheld);

    const [holder] = await queue.dequeue();
    const held = await rig.keySpace();
    expect(await queue.settle([{ receipt: task.receipt, outcome }])).toMatchObject([{ ok: false }]);
    expect(await rig.keySpace()).toEqual(held);
    expect(await holder?.complete()).toMatchObject({ ok: true });
    const ended = await rig.keySpace();
    expect(await queue.settle([{ receipt: task.receipt, outcome }])).toMatchObject([{ ok: false }]);
    expect(await rig.keySpace()).toEqual(ended);
  });

  test.each(outcomes)("%s with a wrong token, lease number or id changes nothing", async (outcome) => {
    const { queue, task } = await leased();
    const [, attempt, lease, token] = task.receipt.split(".");
    const before = await rig.keySpace();
    for (const receipt of [
      `1.${attempt}.${lease}.${"x".repeat(token?.length ?? 0)}.a`,
      `1.${attempt}.${Number(lease) + 1}.${token}.a`,
      `1.${attempt}.${Number(lease) - 1}.${token}.a`,
      `1.${attempt}.${lease}.${token}.b`,
      `1.${attempt}.${lease}.${token}.~lease`.replace("~", "x"),
    ]) {
      expect(await queue.settle([{ receipt, outcome }])).toEqual([
        { receipt, ok: false, code: "lease_lost" },
      ]);
    }
    expect(await rig.keySpace()).toEqual(before);
  });

  test("of many that complete one lease at once with other outcomes, one wins and the record is its own", async () => {
    const { queue, task } = await leased();
    const all: Settlement[] = outcomes
      .filter((outcome) => outcome !== "extend")
      .map((outcome) => ({ receipt: task.receipt, outcome }));
    const answers = await Promise.all(all.map((settlement) => queue.settle([settlement])));
    expect(answers.flat().filter(({ ok }) => ok)).toHaveLength(1);
  });
});
