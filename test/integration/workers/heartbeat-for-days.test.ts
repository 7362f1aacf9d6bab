import { describe, expect, test } from "vitest";
import type { LeasedTask, Worker } from "../../../src/index.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
const one = { name: "one", incarnation: "a" };

describe("heartbeats for days", () => {
  test("a lease kept by heartbeats counts no attempt, and its deadline does not drift", async () => {
    const queue = rig.queue();
    await queue.enqueue("for ever", { id: "t0", maxAttempts: 1 });
    const [task] = await queue.dequeue({ worker: one, lease: "10m" });
    const before = await queue.get("t0");
    for (let i = 0; i < 3 * 24 * 12; i++) {
      rig.now += 300_000;
      expect(await queue.heartbeat(one)).toMatchObject({ leases: 1, deadlineAt: rig.now + 600_000 });
      if (i % 100 !== 0) continue;
      expect(await rig.sweepOnce()).toEqual(["ok", 0, 0, 0, 0, 0, 0, 0]);
      expect(await queue.dequeue({ worker: { name: "other" } })).toHaveLength(0);
    }
    expect(await queue.get("t0")).toEqual({ ...before, deadlineAt: rig.now + 600_000 });
    expect(await task?.complete("at last")).toMatchObject({ ok: true, state: "completed" });
  });

  test("a task that never completes has exactly one holder at any time, even when its workers die", async () => {
    const queue = rig.queue();
    await queue.enqueue("for ever", { id: "t0", maxAttempts: 0 });
    let holder: { worker: Worker; task: LeasedTask } | undefined;
    for (let i = 0; i < 200; i++) {
      rig.now += 20_000;
      // Each process dies after a while, without another call.
      if (i % 7 === 3) holder = undefined;
      const worker: Worker = { name: `w${i % 3}`, incarnation: `i${i}`, silentAfter: "1m" };
      const [task] = await queue.dequeue({ worker, lease: "10d" });
      if (task) {
        expect(holder).toBeUndefined();
        holder = { worker, task };
      }
      if (holder) expect(await queue.heartbeat(holder.worker)).toMatchObject({ ok: true, leases: 1 });
      const { working, pending, workerLeases } = await rig.space();
      expect(working.size + pending.length).toBe(1);
      expect(workerLeases.size).toBe(working.size);
    }
    expect((await queue.get("t0"))?.attempt).toBeGreaterThan(20);
  });
});
