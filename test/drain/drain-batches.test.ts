import { describe, expect, test, vi } from "vitest";
import { drainBatches } from "../../src/drain/drain.ts";
import { type BatchHandler, type TaskOutcome } from "../../src/drain/types.ts";
import { NonRetryableError, type StoppedError } from "../../src/drain/failures.ts";
import { named, numbered } from "../support/new-tasks.ts";
import { START, useRig } from "../support/rig.ts";
import { useSimulatedTime } from "../support/simulated-time.ts";
import { hanging, pause, reported, reportedWithMore, stopOf, thrower } from "./draining.ts";

const rig = useRig();
useSimulatedTime(rig);
const complete: TaskOutcome = { outcome: "complete" };

describe("a drain by batches", () => {
  test("calls its handler once for each pull, with the tasks in their order", async () => {
    const queue = rig.queue<number>();
    await queue.enqueueMany(numbered(25));
    const batches: number[][] = [];
    const report = await drainBatches(queue, (tasks) => {
      batches.push(tasks.map(({ payload }) => payload));
      return tasks.map(({ payload }) => ({ outcome: "complete", result: -payload }));
    });
    expect(report).toEqual(reported({ completed: 25 }));
    const numbers = Array.from({ length: 25 }, (_, i) => i);
    expect(batches).toEqual([numbers.slice(0, 10), numbers.slice(10, 20), numbers.slice(20)]);
    expect(await queue.get("t17")).toMatchObject({ state: "completed", result: -17 });
  });

  test.each([
    [undefined, 1],
    [3, 3],
  ])("runs one batch at a time by default: with a concurrency of %s %i", async (concurrency, most) => {
    const queue = rig.queue();
    await queue.enqueueMany(numbered(12));
    let [running, highest] = [0, 0];
    const handler: BatchHandler = async (tasks) => {
      highest = Math.max(highest, ++running);
      await pause(40);
      running--;
      return tasks.map(() => complete);
    };
    const report = await drainBatches(queue, handler, { batch: 2, concurrency });
    expect([report, highest]).toEqual([reported({ completed: 12 }), most]);
  });

  test("settles each task by its own outcome", async () => {
    const queue = rig.queue<string>();
    const outcomes: Record<string, TaskOutcome> = {
      done: { outcome: "complete", result: { ok: true } },
      again: { outcome: "requeue", delay: "5s", error: "busy" },
      "at-once": { outcome: "requeue" },
      uncounted: { outcome: "requeue", delay: 1, count: false },
      backoff: { outcome: "requeue", backoff: ["10s"] },
      no: { outcome: "reject", error: new TypeError("no such thing") },
    };
    await queue.enqueueMany(named(Object.keys(outcomes)));
    const report = await drainBatches(queue, (tasks) =>
      tasks.map(({ id, attempt }) => (attempt > 1 ? complete : (outcomes[id] as TaskOutcome))),
    );
    expect(report).toEqual(reported({ completed: 2, requeued: 4, rejected: 1, nextDueAt: START + 1 }));
    const found = await Promise.all(Object.keys(outcomes).map((id) => queue.get(id)));
    expect(found).toMatchObject([
      { state: "completed", result: { ok: true } },
      { state: "delayed", dueAt: START + 5_000, error: "busy" },
      { state: "completed", attempt: 2 },
      { state: "delayed", dueAt: START + 1, charged: 0 },
      { state: "delayed", dueAt: START + 10_000 },
      { state: "rejected", error: { name: "TypeError", message: "no such thing" } },
    ]);
  });

  test.each<[string, Error, object, object]>([
    ["an error", new Error("all"), { requeued: 3, nextDueAt: START + 30_000 }, { error: { message: "all" } }],
    ["a NonRetryableError", new NonRetryableError("none"), { rejected: 3 }, { error: { message: "none" } }],
  ])("that throws %s fails each of its tasks so", async (_, thrown, report, task) => {
    const queue = rig.queue();
    await queue.enqueueMany(numbered(3));
    expect(await drainBatches(queue, thrower(thrown), { backoff: ["30s"] })).toEqual(reported(report));
    for (const id of ["t0", "t1", "t2"]) expect(await queue.get(id)).toMatchObject(task);
  });

  test.each([
    ["nothing", undefined],
    ["no array", { 0: complete }],
    ["too few", [complete]],
    ["too many", [complete, complete, complete]],
  ])("whose handler returns %s for outcomes requeues all", async (_, outcomes) => {
    const queue = rig.queue();
    await queue.enqueueMany(numbered(2));
    const report = await drainBatches(queue, () => outcomes as TaskOutcome[], { backoff: ["1s"] });
    expect(report).toEqual(reported({ requeued: 2, nextDueAt: START + 1_000 }));
    expect(await queue.get("t1")).toMatchObject({
      error: { message: "a batch handler must return an array of 2 outcomes, one for each task" },
    });
  });

  test.each<[string, unknown, RegExp]>([
    ["is none", undefined, /^the handler's outcome is invalid: it cannot be read$/],
    ["has an unknown outcome", { outcome: "done" }, /outcome must be complete, requeue or reject/],
    ["has an invalid delay", { outcome: "requeue", delay: "soon" }, /^delay must be a duration/],
    [
      "has no such delay, but an error",
      { outcome: "requeue", delay: -1, error: "e" },
      /^delay must be a duration.*; the default backoff applies$/,
    ],
    ["has an invalid backoff", { outcome: "requeue", backoff: { base: -1 } }, /^backoff.base must be/],
    ["has an invalid count", { outcome: "requeue", count: "no" }, /count must be true or false/],
  ])("requeues a task whose outcome %s, and settles the others", async (_, outcome, message) => {
    vi.spyOn(console, "error").mockReturnValue();
    const queue = rig.queue<string>();
    await queue.enqueueMany(named(["good", "bad"], { maxAttempts: 1 }));
    const report = await drainBatches(queue, (tasks) =>
      tasks.map(({ id }) => (id === "good" ? complete : (outcome as TaskOutcome))),
    );
    // On its only attempt, so that no random backoff is in the way.
    expect(report).toEqual(reported({ completed: 1, rejected: 1 }));
    expect((await queue.get("bad"))?.error).toMatchObject({ message: expect.stringMatching(message) });
  });

  test("stops the batch by its signal at the timeout, and gives it up if it hangs", async () => {
    const queue = rig.queue<number>();
    await queue.enqueueMany(numbered(4));
    const report = await drainBatches(
      queue,
      async (tasks, signal) => {
        if (tasks[0]?.payload !== 0) return hanging();
        const reason = (await stopOf({ signal })) as StoppedError;
        return tasks.map((task) => ({ outcome: "complete", result: [reason.code, task.signal.aborted] }));
      },
      { batch: 2, timeout: 100, backoff: ["1h"] },
    );
    expect(report).toEqual(reported({ completed: 2, requeued: 2, nextDueAt: START + 700 + 3_600_000 }));
    expect(await queue.get("t1")).toMatchObject({ result: ["timeout", true] });
    expect(await queue.get("t3")).toMatchObject({ error: { name: "StoppedError" } });
  });

  test("stops a task that is cancelled, and the batch when all of its are", async () => {
    const queue = rig.queue<number>();
    await queue.enqueueMany(numbered(2));
    const seen: unknown[] = [];
    const report = await drainBatches(
      queue,
      async (tasks, signal) => {
        const [first, second] = tasks as [(typeof tasks)[0], (typeof tasks)[0]];
        await queue.cancel(first.id);
        seen.push(((await stopOf(first)) as StoppedError).code, second.signal.aborted, signal.aborted);
        await queue.cancel(second.id);
        seen.push(((await stopOf({ signal })) as StoppedError).code, second.signal.aborted);
        return [complete, { outcome: "requeue" }];
      },
      { lease: "1s" },
    );
    expect(report).toEqual(reported({ completed: 1, rejected: 1 }));
    expect(seen).toEqual(["cancelled", false, false, "cancelled", true]);
  });

  test("hands back whole batches that it did not begin", async () => {
    const queue = rig.queue<number>();
    await queue.enqueueMany(numbered(8));
    const ending = new AbortController();
    const report = await drainBatches(
      queue,
      async (tasks) => {
        if (tasks[0]?.payload === 2) ending.abort();
        await pause(50);
        return tasks.map(() => complete);
      },
      { batch: 2, concurrency: 2, signal: ending.signal },
    );
    expect(await queue.counts()).toMatchObject({ pending: 4, working: 0 });
    expect(report).toEqual(
      reportedWithMore({ completed: 4, handedBack: report.handedBack, ended: "aborted" }),
    );
  });
});
