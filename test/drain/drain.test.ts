import { describe, expect, test } from "vitest";
import { Queue, type Transport } from "../../src/index.ts";
import { drain, drainBatches } from "../../src/drain/drain.ts";
import type { DrainOptions, Handler } from "../../src/drain/types.ts";
import { RetryAfter } from "../../src/drain/failures.ts";
import { START, useRig } from "../support/rig.ts";
import { many, named, numbered } from "../support/new-tasks.ts";
import { useSimulatedTime } from "../support/simulated-time.ts";
import { pause, reported } from "./draining.ts";

const rig = useRig();
useSimulatedTime(rig);

const HOUR = 3_600_000;

describe("a drain", () => {
  test("calls the handler once for each task and keeps what it returns as the task's result", async () => {
    const queue = rig.queue<number>();
    await queue.enqueueMany(numbered(25));
    const seen: number[] = [];
    const report = await drain(queue, async ({ payload }) => {
      seen.push(payload);
      await pause(payload % 3);
      return { doubled: 2 * payload };
    });
    expect(report).toEqual(reported({ completed: 25 }));
    expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 25 }, (_, i) => i));
    const result = { doubled: 14 };
    expect(await queue.get("t7")).toMatchObject({ state: "completed", attempt: 1, charged: 1, result });
    expect(await queue.counts()).toMatchObject({ pending: 0, delayed: 0, working: 0, rejected: 0 });
  });

  test("shows the handler everything that a dequeue returns of a task, leased under its worker's name for its lease; passes progress on", async () => {
    const queue = rig.queue();
    await queue.enqueue({ to: "a" }, { id: "a", group: "g", headers: { trace: "1" } });
    const worker = { name: "w1", incarnation: "i1" };
    const shown: unknown[] = [];
    const report = await drain(
      queue,
      async ({ signal, extend, receipt, ...task }) => {
        shown.push(task, signal.aborted, typeof receipt, await queue.get("a"));
        rig.now += 2_000;
        shown.push(await extend(undefined, { progress: { done: 0.5 } }), await queue.get("a"));
      },
      { worker, lease: "7s" },
    );
    expect(report).toEqual(reported({ completed: 1 }));
    const task = {
      id: "a",
      payload: { to: "a" },
      attempt: 1,
      enqueuedAt: START,
      headers: { trace: "1" },
      group: "g",
    };
    expect(shown.slice(0, 3)).toEqual([task, false, "string"]);
    expect(shown.slice(3)).toMatchObject([
      { state: "working", worker, deadlineAt: START + 7_000 },
      { ok: true, state: "working", deadlineAt: START + 9_000 },
      { progress: { done: 0.5 }, deadlineAt: START + 9_000 },
    ]);
  });

  test.each([
    ["five handlers at once by default", {}, 5, 15],
    ["as many handlers at once as its concurrency", { concurrency: 3 }, 3, 13],
    ["one after the other, with no more tasks than its batch", { concurrency: 1, batch: 2 }, 1, 2],
    ["more at once than one pull gives", { concurrency: 12, batch: 4 }, 12, 16],
  ])("runs %s", async (_, options, most, mostHeld) => {
    const queue = rig.queue();
    await queue.enqueueMany(many(30));
    let [running, highest, working] = [0, 0, 0];
    const handler = async () => {
      highest = Math.max(highest, ++running);
      working = Math.max(working, (await queue.counts()).working);
      await pause(30);
      running--;
    };
    expect(await drain(queue, handler, options)).toEqual(reported({ completed: 30 }));
    expect([highest, working <= mostHeld]).toEqual([most, true]);
  });

  test("promotes due tasks and reports when the next is due, or the first of those that it requeued", async () => {
    const queue = rig.queue<number>();
    await queue.enqueueMany([
      { payload: 2, delay: "1s" },
      { payload: 1, delay: "1s" },
      { payload: 9, delay: "9h" },
    ]);
    rig.now += 1_000;
    const handler = ({ payload }: { payload: number }) => {
      throw new RetryAfter(payload * HOUR);
    };
    const nextDueAt = START + 1_000 + HOUR;
    expect(await drain(queue, handler)).toEqual(reported({ requeued: 2, nextDueAt }));
    expect(await drain(queue, handler)).toEqual(reported({ nextDueAt }));
  });

  test("finishes its tasks if the queue is paused meanwhile, pulls no more, and reports no next time", async () => {
    const queue = rig.queue<number>();
    await queue.enqueueMany(many(30));
    const handler = async ({ payload }: { payload: number }) => {
      await rig.operator().pause();
      if (payload === 4) throw new Error("not now");
    };
    const report = await drain(queue, handler, { batch: 5, backoff: ["1h"] });
    expect(report).toEqual(reported({ completed: 4, requeued: 1, ended: "paused" }));
    const left = { pending: 25, delayed: 1, working: 0, nextDueAt: START + HOUR };
    expect(await queue.counts()).toMatchObject(left);
    expect(await drain(queue, () => expect.unreachable())).toEqual(reported({ ended: "paused" }));
  });

  test("settles finished tasks while others still run", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["quick", "slow"]));
    const report = await drain(queue, async (task) => {
      if (task.id === "quick") return "done";
      // Only this lets it end.
      const { state, result } = (await queue.wait("quick", { for: "10s" })) ?? {};
      return [state, result];
    });
    expect(report).toEqual(reported({ completed: 2 }));
    expect(await queue.get("slow")).toMatchObject({ result: ["completed", "done"] });
  });
});

// None of these calls reaches Redis.
const transport: Transport = { send: () => expect.unreachable() };
const unreached = new Queue<unknown>("emails", { transport });
const silent = { name: "w", silentAfter: "29s" };

describe.each([
  ["drain", drain],
  ["drainBatches", drainBatches as unknown as typeof drain],
])("%s refuses, before it does anything,", (_, run) => {
  test.each<[string, object, string, RegExp]>([
    ["unknown options", { concurency: 3 }, "concurency", /is an unknown option; expected one of budget, ba/],
    ["a budget of 0", { budget: 0 }, "budget", /must be a duration of 1 to/],
    ["a budget in words", { budget: "soon" }, "budget", /must be a duration/],
    ["a batch of 0", { batch: 0 }, "batch", /must be a whole number from 1 to 1000/],
    ["a batch over the limit", { batch: 1_001 }, "batch", /must be a whole number from 1 to 1000/],
    ["half a handler", { concurrency: 0.5 }, "concurrency", /must be a whole number from 1 to 1000/],
    ["a lease of 0", { lease: 0 }, "lease", /must be a duration of 1 to/],
    ["extends too often", { extendEvery: 249 }, "extendEvery", /must be a duration of 250 to 3600000 ms/],
    ["a timeout of 0", { timeout: 0 }, "timeout", /must be a duration of 1 to/],
    ["a wait over a minute", { wait: "61s" }, "wait", /must be a duration of 0 to 60000 ms/],
    ["a backoff without delays", { backoff: [] }, "backoff", /must have at least one delay/],
    ["a worker without a name", { worker: {} }, "worker.name", /must be/],
    ["a worker that seems dead", { budget: "30s", worker: silent }, "worker.silentAfter", /must be at least/],
    ["an invalid signal", { signal: {} }, "signal", /must be an AbortSignal/],
    ["an invalid signal to close by", { closing: true }, "closing", /must be an AbortSignal/],
    ["a hook that is no function", { onFailure: 1 }, "onFailure", /must be a function/],
    ["a text for true or false", { storeStack: "yes" }, "storeStack", /must be true or false/],
  ])("%s", async (__, options, path, message) => {
    const refused = run(unreached, () => undefined, options as DrainOptions);
    await expect(refused).rejects.toMatchObject({
      name: "SluiceError",
      code: "invalid_argument",
      path,
      message: expect.stringMatching(message) as string,
    });
  });

  test.each<[path: string, source: unknown, handler: unknown, options?: unknown]>([
    ["handler", unreached, undefined],
    ["source", {}, () => undefined],
    ["source", undefined, () => undefined],
    ["options", unreached, () => undefined, null],
  ])("an invalid %s", async (path, source, handler, options) => {
    const refused = run(source as Queue, handler as Handler, options as DrainOptions);
    await expect(refused).rejects.toMatchObject({ code: "invalid_argument", path });
  });
});
