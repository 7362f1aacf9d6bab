import { describe, expect, test } from "vitest";
import { many, named } from "../../support/new-tasks.ts";
import { START, useRig } from "../../support/rig.ts";

const rig = useRig();

describe("many in one call", () => {
  test("mixed outcomes get an answer each, in order, and a stale one among them changes nothing", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "b", "c", "d", "e"]));
    const [a = "", b = "", c = "", d = "", e = ""] = (await queue.dequeue({ max: 5, lease: 1_000 })).map(
      ({ receipt }) => receipt,
    );
    await queue.settle([{ receipt: e, outcome: "complete" }]);
    const answers = await queue.settle([
      { receipt: d, outcome: "extend", lease: "5s" },
      { receipt: a, outcome: "complete", result: 1 },
      { receipt: e, outcome: "reject" },
      { receipt: b, outcome: "requeue", delay: 10 },
      { receipt: c, outcome: "reject", error: "no" },
    ]);
    expect(answers).toEqual([
      { receipt: d, ok: true, state: "working", deadlineAt: START + 5_000 },
      { receipt: a, ok: true, state: "completed" },
      { receipt: e, ok: false, code: "lease_lost" },
      { receipt: b, ok: true, state: "delayed", dueAt: START + 10 },
      { receipt: c, ok: true, state: "rejected", reason: "rejected" },
    ]);
    const space = await rig.space();
    expect([[...space.working], [...space.delayed], [...space.dead.keys()]]).toEqual([
      [["d", START + 5_000]],
      [["b", START + 10]],
      ["c"],
    ]);
  });

  test("1,000 settlements fit into one call", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(many(1_000));
    const batch = await queue.dequeue({ max: 1_000 });
    const extended = await queue.settle(
      batch.map(({ receipt }) => ({ receipt, outcome: "extend", lease: "1h" })),
    );
    const deadlines = new Set(extended.map((answer) => answer.ok && answer.deadlineAt));
    expect(deadlines).toEqual(new Set([START + 3_600_000]));
    const kinds = ["complete", "reject", "requeue"] as const;
    const answers = await queue.settle(
      batch.map(({ receipt }, i) => ({ receipt, outcome: kinds[i % 3] as (typeof kinds)[number] })),
    );
    expect(answers.every(({ ok }) => ok)).toBe(true);
    expect(await queue.counts()).toMatchObject({ pending: 333, working: 0, rejected: 333 });
  });
});
