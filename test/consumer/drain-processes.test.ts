import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { drain } from "../../src/consumer/drain/drain.ts";
import { type DrainOptions, type DrainReport } from "../../src/consumer/drain/types.ts";
import { numbered } from "../support/new-tasks.ts";
import { useRig } from "../support/rig.ts";
import { leasedIn, pause, reportedWithMore } from "./draining.ts";

const rig = useRig();
const queue = () => rig.queue<number>({ now: undefined });

const children = new Set<ChildProcess>();
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
});

/** A consumer in a process of its own, which is ready to drain. */
async function consumer(kind: string, options: DrainOptions): Promise<ChildProcess> {
  const path = fileURLToPath(new URL("drain-program.ts", import.meta.url));
  const child = fork(path, [rig.redis.url, kind, JSON.stringify(options)]);
  children.add(child);
  await once(child, "message");
  return child;
}

/** Its report and its exit code, once it has ended by itself. */
async function ended(child: ChildProcess): Promise<{ report: DrainReport; code: number | null }> {
  const exit = once(child, "exit");
  const [report] = (await once(child, "message")) as [DrainReport];
  const [code] = (await exit) as [number | null];
  return { report, code };
}

describe("a process that drains", () => {
  test("ends by itself after its drain, even if a handler hangs and leases were long", async () => {
    await queue().enqueueMany(numbered(2));
    const child = await consumer("hang", { backoff: ["1h"] });
    expect(await ended(child)).toEqual({
      report: reportedWithMore({ requeued: 2, ended: "aborted" }),
      code: 0,
    });
  });

  test("loses no task when it is killed: others do the tasks that it had not settled", async () => {
    await queue().enqueueMany(numbered(300));
    const left = async () => {
      const { pending, working } = await queue().counts();
      return pending + working;
    };
    let restarts = 0;
    for (let before = await left(); before > 150; before = await left()) {
      const child = await consumer("quick", { lease: "1s", budget: "20s" });
      while ((await left()) > before - 40) await pause(10);
      child.kill("SIGKILL");
      await once(child, "exit");
      restarts++;
    }
    expect(restarts).toBeGreaterThan(1);
    // Waits until the leases of the killed consumers are over, too.
    let done = 0;
    while ((await left()) > 0) {
      const report = await drain(queue(), ({ payload }) => payload, { lease: "1s" });
      done += report.completed;
      // Tasks whose lease expired run one at a time: the others of their batch are handed back.
      expect(report).toMatchObject({ requeued: 0, rejected: 0, lost: 0 });
      await pause(100);
    }
    expect(done).toBeGreaterThan(0);
    const found = await Promise.all(numbered(300).map(({ id }) => queue().get(id)));
    expect(found.map((task) => [task?.state, task?.result])).toEqual(
      Array.from({ length: 300 }, (_, i) => ["completed", i]),
    );
    // A task that is handed back is not charged: only with the processes that died, and when it is completed.
    expect(found.filter((task) => (task?.charged ?? 0) > restarts + 1)).toEqual([]);
  });

  test("loses no task when a handler blocks its event loop past the lease", async () => {
    await queue().enqueueMany(numbered(3));
    const child = await consumer("block", { lease: "500ms", concurrency: 3 });
    const answer = ended(child);
    let others = 0;
    while ((await queue().counts()).pending > 0) await pause(10);
    // It blocks for 2.5 s while it holds all three leases: they expire here.
    while (others < 1) {
      await pause(100);
      others += (await drain(queue(), ({ attempt }) => attempt)).completed;
    }
    const { report, code } = await answer;
    expect({ code, lost: report.lost > 0, all: report.completed + others }).toEqual({
      code: 0,
      lost: true,
      all: 3,
    });
    const found = await Promise.all(["t0", "t1", "t2"].map((id) => queue().get(id)));
    expect(found.every((task) => task?.state === "completed")).toBe(true);
  });

  test("shares a queue with another: each task is done once", async () => {
    await queue().enqueueMany(numbered(200));
    const options: DrainOptions = { wait: "1s", lease: "20s" };
    const both = await Promise.all([consumer("quick", options), consumer("quick", options)]);
    const reports = await Promise.all(both.map(ended));
    expect(reports.map(({ report }) => report.completed).reduce((a, b) => a + b)).toBe(200);
    expect(reports.map(({ report, code }) => [code, leasedIn(report) - report.completed])).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });
});
