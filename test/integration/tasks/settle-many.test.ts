import { describe, expect, test } from "vitest";
import type { LeasedTask } from "../../../src/index.ts";
import { leasing } from "../../support/leasing.ts";
import { START, useRig } from "../../support/rig.ts";

const rig = useRig();
const leased = leasing(rig);

describe("many in one call", () => {
  test("mixed outcomes get an answer each, in order, and a stale one among them changes nothing", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(["a", "b", "c", "d", "e"].map((id) => ({ payload: id, id })));
    const [a, b, c, d, e] = await queue.dequeue({ max: 5, lease: 1_000 });
    await e?.complete();
    const receipt = (task: LeasedTask | undefined) => task?.receipt ?? "";
    const answers = await queue.settle([
      { receipt: receipt(d), outcome: "extend", lease: "5s" },
      { receipt: receipt(a), outcome: "complete", result: 1 },
      { receipt: receipt(e), outcome: "reject" },
      { receipt: receipt(b), outcome: "requeue", delay: 10 },
      { receipt: receipt(c), outcome: "reject", error: "no" },
    ]);
    expect(answers).toEqual([
      { receipt: receipt(d), ok: true, state: "working", deadlineAt: START + 5_000 },
      { receipt: receipt(a), ok: true, state: "completed" },
      { receipt: receipt(e), ok: false, code: "lease_lost" },
      { receipt: receipt(b), ok: true, state: "delayed", dueAt: START + 10 },
      { receipt: receipt(c), ok: true, state: "rejected", reason: "rejected" },
    ]);
    const space = await rig.space();
    expect([[...space.working], [...space.delayed], [...space.dead.keys()]]).toEqual([
      [["d", START + 5_000]],
      [["b", START + 10]],
      ["c"],
    ]);
  });

  test("one receipt several times: extend, then complete, then complete again, then requeue", async () => {
    const { queue, task } = await leased();
    const { receipt } = task;
    expect(
      await queue.settle([
        { receipt, outcome: "extend", lease: "1h" },
        { receipt, outcome: "complete", result: "once" },
        { receipt, outcome: "complete", result: "twice" },
        { receipt, outcome: "requeue" },
        { receipt, outcome: "extend" },
      ]),
    ).toMatchObject([{ ok: true }, { ok: true }, { ok: true }, { ok: false }, { ok: false }]);
    expect((await rig.space()).working.size).toBe(0);
    expect(await queue.get("a")).toMatchObject({ state: "completed", result: "once" });
  });

  test("1,000 settlements fit into one call", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(Array.from({ length: 1_000 }, (_, i) => ({ payload: i })));
    const batch = await queue.dequeue({ max: 1_000 });
    const extended = await queue.settle(
      batch.map(({ receipt }) => ({ receipt, outcome: "extend", lease: "1h" })),
    );
    expect(new Set(extended.map((answer) => answer.ok && answer.deadlineAt))).toEqual(
      new Set([START + 3_600_000]),
    );
    const kinds = ["complete", "reject", "requeue"] as const;
    const answers = await queue.settle(
      batch.map(({ receipt }, i) => ({ receipt, outcome: kinds[i % 3] as (typeof kinds)[number] })),
    );
    expect(answers.every(({ ok }) => ok)).toBe(true);
    expect(await queue.counts()).toMatchObject({ pending: 333, working: 0, rejected: 333 });
  });

  test("settle and dequeue fit into one request", async () => {
    const { queue, task } = await leased();
    await queue.enqueue("next", { id: "b" });
    const { settled, tasks } = await queue.settleAndDequeue(
      [{ receipt: task.receipt, outcome: "complete" }],
      {
        max: 5,
      },
    );
    expect(settled).toMatchObject([{ ok: true }]);
    expect(tasks.map(({ id }) => id)).toEqual(["b"]);
    expect((await queue.settleAndDequeue([], { max: 5 })).tasks).toHaveLength(0);
  });
});
