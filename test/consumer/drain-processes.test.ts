import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { drain } from "../../src/consumer/drain/drain.ts";
import type { DrainOptions } from "../../src/consumer/drain/types.ts";
import { numbered } from "../support/new-tasks.ts";
import { useRig } from "../support/rig.ts";
import { reportedWithMore } from "./draining.ts";

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

describe("a process that drains", () => {
  test("ends by itself after its drain, even if a handler hangs and leases were long", async () => {
    await queue().enqueueMany(numbered(2));
    const child = await consumer("hang", { backoff: ["1h"] });
    const exit = once(child, "exit");
    const [report] = (await once(child, "message")) as unknown[];
    expect(report).toEqual(reportedWithMore({ requeued: 2, ended: "aborted" }));
    expect((await exit)[0]).toBe(0);
  });

  test("loses no task when it is killed: others do the tasks that it had not settled", async () => {
    await queue().enqueueMany(numbered(100));
    await once(await consumer("dies", { lease: "1m", batch: 10 }), "exit");
    const { pending, working } = await queue().counts();
    expect(pending).toBeGreaterThan(0);
    expect(working).toBeGreaterThan(0);
    // A minute later, when the leases of the killed consumers are over.
    const later = rig.queue<number>({ now: () => Date.now() + 61_000 });
    const report = await drain(later, ({ payload }) => payload, { budget: "1m" });
    // Tasks whose lease expired run one at a time: the others of their batch are handed back.
    expect(report).toMatchObject({ requeued: 0, rejected: 0, lost: 0, ended: "empty" });
    expect(report.completed).toBeGreaterThan(0);
    const found = await Promise.all(numbered(100).map(({ id }) => later.get(id)));
    expect(found.map((task) => [task?.state, task?.result])).toEqual(
      numbered(100).map(({ payload }) => ["completed", payload]),
    );
    // A task that is handed back is not charged: only with the process that died, and when it is completed.
    expect(found.filter((task) => (task?.charged ?? 0) > 2)).toEqual([]);
  });
});
