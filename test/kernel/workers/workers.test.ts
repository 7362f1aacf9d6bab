import { beforeEach, describe, expect, test } from "vitest";
import type { Queue } from "../../../src/index.ts";
import { START, useRig } from "../../support/rig.ts";
import { numbered } from "../../support/new-tasks.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));
const one = { name: "one", incarnation: "a" };

describe("the list of workers", () => {
  test("reports of each worker where it runs, as it said last", async () => {
    await queue.heartbeat({ ...one, node: "a" });
    await queue.enqueue(1, { id: "t0" });
    const worker = { ...one, node: 'eu "1"; über', pid: 0, silentAfter: "30s" } as const;
    await queue.dequeue({ worker });
    const registered = {
      ...worker,
      silentAfter: 30_000,
      seenAt: START,
      silentAt: START + 30_000,
      state: "working",
    };
    expect(await rig.operator().workers()).toEqual({
      workers: [{ ...registered, working: 1, tasks: ["t0"] }],
      now: START,
      cursor: null,
    });
  });

  test("counts an extended lease as seen, and never a time to come", async () => {
    const seen = async () =>
      (await rig.operator().workers()).workers.map(({ seenAt }) => (seenAt ?? 0) - START);
    await queue.enqueueMany(numbered(2));
    const [task] = await queue.dequeue({ max: 2, worker: one, lease: "1m" });
    rig.now += 20_000;
    expect(await seen()).toEqual([0]);
    await task?.extend();
    expect(await seen()).toEqual([20_000]);
    rig.now += 5_000;
    await task?.extend("1h");
    rig.now += 5_000;
    expect(await seen()).toEqual([30_000]);
  });

  test("has one that was failed for an hour, with where it runs, until it dequeues again", async () => {
    const list = async () => (await rig.operator().workers()).workers;
    const where = { node: "a;b", pid: 7 } as const;
    await queue.enqueueMany(numbered(2));
    await queue.dequeue({ worker: { ...one, ...where, silentAfter: "1m" } });
    await queue.dequeue({ worker: { name: "two" } });
    rig.now += 1_000;
    for (const name of ["one", "two", "unknown"]) await rig.operator().failWorker(name);
    const failed = {
      state: "gone",
      seenAt: null,
      failedAt: rig.now,
      silentAt: rig.now + 3_600_000,
      working: 0,
      tasks: [],
    };
    const lost = [
      { name: "two", ...failed },
      { ...one, ...where, ...failed },
    ];
    expect(await list()).toEqual(lost);
    expect((await queue.counts()).workers).toBe(0);
    // A second call, or a heartbeat, is no dequeue.
    await rig.operator().failWorker("one");
    expect(await queue.heartbeat(one)).toMatchObject({ code: "worker_lost" });
    expect(await list()).toEqual(lost);
    await queue.dequeue({ worker: { name: "two" } });
    expect(await list()).toMatchObject([{ name: "two", seenAt: rig.now, working: 1 }, lost[1]]);
    rig.now += 3_600_000;
    expect(await list()).toMatchObject([{ name: "two" }]);
  });

  test("has the last ten of those that were failed", async () => {
    for (let i = 0; i < 12; i++) {
      await queue.enqueue(i);
      await queue.dequeue({ worker: { name: `w${i}` } });
    }
    for (let i = 0; i < 12; i++) await rig.operator().failWorker(`w${i}`);
    const { workers } = await rig.operator().workers();
    expect(workers.map(({ name }) => name)).toEqual(Array.from({ length: 10 }, (_, i) => `w${11 - i}`));
  });

  test("remembers those that were failed in a field of at most 2,000 bytes", async () => {
    const name = (i: number) => `${i}`.padStart(128, "w");
    for (let i = 0; i < 20; i++) {
      await queue.enqueue(i);
      await queue.dequeue({ worker: { name: name(i) } });
      await rig.operator().failWorker(name(i));
    }
    expect((await rig.space()).tasks.get("~lost")).toHaveLength(2_000);
    const { workers } = await rig.operator().workers();
    expect(workers.map((worker) => worker.name)).toEqual(Array.from({ length: 10 }, (_, i) => name(19 - i)));
  });

  test("counts all tasks of a worker and names the first hundred", async () => {
    await queue.enqueueMany(numbered(250));
    await queue.dequeue({ max: 250, worker: one });
    const [worker] = (await rig.operator().workers()).workers;
    expect(worker).toMatchObject({ working: 250, tasks: numbered(100).map(({ id }) => id) });
  });

  test("comes in pages that together name every worker", async () => {
    for (let i = 0; i < 300; i++) await queue.heartbeat({ name: `w${i}` });
    const seen = new Set<string>();
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await rig.operator().workers({ cursor, size: 50 });
      for (const { name } of page.workers) seen.add(name);
      cursor = page.cursor ?? undefined;
      pages++;
    } while (cursor !== undefined);
    expect([seen.size, pages > 1]).toEqual([300, true]);
  });
});
