import { expect, test } from "vitest";
import type { Worker } from "../../../src/index.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
const LEASE = 600_000;
const DAYS = 3;

// In heartbeat.test.ts heartbeats keep tasks for days; here their holders only extend.
test.each<[string, Worker | undefined]>([
  ["without a name", undefined],
  ["with a name and without silentAfter", { name: "one", incarnation: "a" }],
])(
  "a holder %s that only extends keeps its task for days as its only holder, until it stops",
  async (_, worker) => {
    const queue = rig.queue();
    await queue.enqueue("for ever", { id: "t0", maxAttempts: 2 });
    const [task] = await queue.dequeue({ worker, lease: LEASE });
    const before = await queue.get("t0");
    for (let i = 0; i < DAYS * 24 * 12; i++) {
      rig.now += 300_000 + (i % 7);
      const deadlineAt = rig.now + LEASE;
      const extended = { receipt: task?.receipt, ok: true, state: "working", deadlineAt };
      expect(await task?.extend()).toEqual(extended);
      if (i % 50 !== 0) continue;
      // Up to the last millisecond no other worker gets it.
      rig.now += LEASE - 1;
      expect(await rig.sweepOnce()).toEqual(["ok", 0, 0, 0, 0, 0, 0, 0]);
      for (const other of [undefined, { name: "two" }, { name: "one", incarnation: "b" }]) {
        expect(await queue.dequeue({ max: 5, worker: other })).toHaveLength(0);
      }
      expect([...(await rig.space()).working.keys()]).toEqual(["t0"]);
    }
    expect(await task?.extend()).toMatchObject({ deadlineAt: rig.now + LEASE });
    expect(await queue.get("t0")).toEqual({ ...before, attempt: 1, deadlineAt: rig.now + LEASE });
    // Then it stops: exactly one other follows, and it cannot extend any more.
    rig.now += LEASE;
    const next = await Promise.all([1, 2, 3].map(() => queue.dequeue({ lease: LEASE })));
    expect(next.flat().map(({ id, attempt }) => [id, attempt])).toEqual([["t0", 2]]);
    expect(await task?.extend()).toEqual({ receipt: task?.receipt, ok: false, code: "lease_lost" });
    expect([...(await rig.space()).working]).toEqual([["t0", rig.now + LEASE]]);
    expect(await next.flat()[0]?.complete("at last")).toMatchObject({ ok: true, state: "completed" });
  },
);
