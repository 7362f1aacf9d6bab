import { beforeEach, describe, expect, test } from "vitest";
import type { Queue } from "../../../src/index.ts";
import { useRig } from "../../support/rig.ts";
import { numbered } from "../../support/new-tasks.ts";
import { recorded } from "../../support/recorded.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));
const deadlines = async () => Object.fromEntries((await rig.space()).working);
const one = { name: "one", incarnation: "a" };

describe("a heartbeat", () => {
  test("of 2,500 tasks takes three requests, extends every lease, and returns the earliest deadline", async () => {
    await queue.enqueue(0, { id: "short", lease: "90s" });
    await queue.dequeue({ worker: one });
    for (let first = 0; first < 2_500; first += 500) {
      await queue.enqueueMany(numbered(2_500).slice(first, first + 500));
      expect(await queue.dequeue({ max: 500, worker: one })).toHaveLength(500);
    }
    await queue.cancel("t2400");
    rig.now += 60_000;
    const { queue: counted, requests } = recorded(rig);
    expect(await counted.heartbeat(one)).toEqual({
      ok: true,
      leases: 2_501,
      deadlineAt: rig.now + 90_000,
      cancelRequested: ["t2400"],
    });
    expect(requests).toHaveLength(3);
    const { short, ...others } = await deadlines();
    expect([short, new Set(Object.values(others))]).toEqual([rig.now + 90_000, new Set([rig.now + 300_000])]);
  });
});

test("a lease kept by heartbeats for days counts no attempt, and its deadline does not drift", async () => {
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
