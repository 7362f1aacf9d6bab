import { beforeEach, describe, expect, test } from "vitest";
import type { Queue } from "../../../src/index.ts";
import { START, useRig } from "../../support/rig.ts";
import { numbered } from "../../support/new-tasks.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));
const one = { name: "one", incarnation: "a" };

describe("the list of workers", () => {
  test("reports of each worker where it runs, when it was last seen, and which tasks it has", async () => {
    await queue.enqueueMany(numbered(3));
    await queue.dequeue({
      max: 2,
      worker: { ...one, node: 'eu "1"; über', pid: 4711, silentAfter: "30s" },
    });
    rig.now += 1_000;
    await queue.dequeue({ worker: { name: "two" } });
    await queue.heartbeat({ name: "idle", silentAfter: "1m" });
    const { workers, now, cursor } = await rig.operator().workers();
    expect({ now, cursor }).toEqual({ now: rig.now, cursor: null });
    expect(workers.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      {
        name: "idle",
        silentAfter: 60_000,
        seenAt: rig.now,
        silentAt: rig.now + 60_000,
        working: 0,
        tasks: [],
      },
      {
        ...one,
        node: 'eu "1"; über',
        pid: 4711,
        silentAfter: 30_000,
        seenAt: START,
        silentAt: START + 30_000,
        working: 2,
        tasks: ["t0", "t1"],
      },
      { name: "two", seenAt: rig.now, silentAt: rig.now + 3_600_000, working: 1, tasks: ["t2"] },
    ]);
    expect(await queue.counts()).toMatchObject({ workers: 3, working: 3, delayed: 0 });
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
    await expect(rig.operator().workers({ cursor: "x" })).rejects.toThrow(
      "cursor must be the cursor of an earlier page",
    );
    await expect(rig.operator().workers({ size: 0 })).rejects.toMatchObject({ path: "size" });
  });
});
