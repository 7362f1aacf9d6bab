import { describe, expect, test } from "vitest";
import { drain } from "../../src/consumer/drain/drain.ts";
import { RetryAfter } from "../../src/consumer/drain/failures.ts";
import { key, START, useRig } from "../support/rig.ts";
import { many, numbered } from "../support/new-tasks.ts";
import { followingSignal, leasedIn, noting, pause, reported, reportedWithMore } from "./draining.ts";

const rig = useRig();

describe("a drain", () => {
  test("reports when the first of the tasks that it requeued is due, not the last", async () => {
    // If Redis does not know settle yet, the pull after it in the request runs before it.
    await rig.queue().enqueue("known");
    await drain(rig.queue(), () => undefined);
    await rig.queue().enqueueMany(numbered(3));
    const delays = ["2h", "1h", "3h"] as const;
    const report = await drain(rig.queue<0 | 1 | 2>({ now: undefined }), ({ payload }) => {
      throw new RetryAfter(delays[payload]);
    });
    const { dueAt } = (await rig.queue().get("t1")) ?? {};
    expect(report).toEqual(reported({ requeued: 3, nextDueAt: dueAt as number }));
  });

  test("of an empty queue ends with its first pull", async () => {
    const { transport, sent } = noting(rig.transport);
    const report = await drain(rig.queue({ transport }), () => expect.unreachable());
    expect(report).toEqual(reported());
    expect(sent).toEqual([["dequeue"]]);
  });

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
    expect(await queue.get("t7")).toMatchObject({
      state: "completed",
      attempt: 1,
      charged: 1,
      result: { doubled: 14 },
    });
    expect(await queue.counts()).toMatchObject({ pending: 0, delayed: 0, working: 0, rejected: 0 });
  });

  test("shows the handler everything that a dequeue returns of a task", async () => {
    const queue = rig.queue();
    await queue.enqueue({ to: "a" }, { id: "a", group: "g", headers: { trace: "1" } });
    const shown: unknown[] = [];
    await drain(queue, ({ signal, extend, receipt, ...task }) => {
      shown.push(task, signal.aborted, typeof extend, typeof receipt);
    });
    const task = {
      id: "a",
      payload: { to: "a" },
      attempt: 1,
      enqueuedAt: START,
      headers: { trace: "1" },
      group: "g",
    };
    expect(shown).toEqual([task, false, "function", "string"]);
  });

  test.each([
    ["five handlers at once by default", {}, 5],
    ["as many handlers at once as its concurrency", { concurrency: 3 }, 3],
    ["one after the other", { concurrency: 1 }, 1],
    ["more at once than one pull gives", { concurrency: 12, batch: 4 }, 12],
  ])("runs %s", async (_, options, most) => {
    const queue = rig.queue();
    await queue.enqueueMany(many(30));
    let running = 0;
    let highest = 0;
    const report = await drain(
      queue,
      async () => {
        highest = Math.max(highest, ++running);
        await pause(30);
        running--;
      },
      options,
    );
    expect([report, highest]).toEqual([reported({ completed: 30 }), most]);
  });

  test("works on tasks that its handlers enqueue, too", async () => {
    const queue = rig.queue<number>();
    await queue.enqueue(3);
    const report = await drain(queue, async ({ payload }) => {
      if (payload > 0) await queue.enqueueMany([{ payload: payload - 1 }, { payload: payload - 1 }]);
    });
    expect(report).toEqual(reported({ completed: 15 }));
  });

  test("promotes due tasks and reports when the next is due", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([
      { payload: 1, delay: "1s" },
      { payload: 2, delay: "1h" },
    ]);
    rig.now += 1_000;
    const report = await drain(queue, () => undefined);
    expect(report).toEqual(reported({ completed: 1, nextDueAt: START + 3_600_000 }));
  });

  test("of a paused queue begins nothing", async () => {
    const queue = rig.queue();
    await queue.enqueue(1);
    await rig.operator().pause();
    expect(await drain(queue, () => expect.unreachable())).toEqual(reported({ ended: "paused" }));
  });

  test("finishes its tasks if the queue is paused meanwhile, and pulls no more", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(many(30));
    const report = await drain(queue, () => rig.operator().pause(), { batch: 5 });
    expect(report).toEqual(reported({ completed: 5, ended: "paused" }));
    expect(await queue.counts()).toMatchObject({ pending: 25, working: 0 });
  });

  test("reports no next time if the queue is paused, though a failed task is due in an hour", async () => {
    const queue = rig.queue();
    await queue.enqueue(1);
    const handler = async () => {
      await rig.operator().pause();
      throw new Error("not now");
    };
    const report = await drain(queue, handler, { backoff: ["1h"] });
    expect(report).toEqual(reported({ requeued: 1, ended: "paused" }));
    expect(await queue.counts()).toMatchObject({ delayed: 1, nextDueAt: START + 3_600_000 });
  });

  test("goes on after a task that travels alone because it killed a function before", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(numbered(20));
    await queue.dequeue({ lease: 1_000 });
    rig.now += 1_001;
    expect(await drain(queue, () => undefined)).toEqual(reported({ completed: 20 }));
  });

  test("shares a queue with another one: each task is done by one of them", async () => {
    const queue = rig.queue<number>();
    await queue.enqueueMany(numbered(60));
    const done: number[] = [];
    const handler = async ({ payload }: { payload: number }) => {
      done.push(payload);
      await pause(5);
    };
    const reports = await Promise.all([drain(queue, handler), drain(queue, handler)]);
    expect(done.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, i) => i));
    expect(reports.map(leasedIn).reduce((a, b) => a + b)).toBe(60);
    expect(reports.every(({ completed }) => completed > 0)).toBe(true);
  });

  test("pulls tasks under its worker's name and with its lease", async () => {
    const queue = rig.queue();
    await queue.enqueue(1, { id: "a" });
    const seen: unknown[] = [];
    await drain(queue, async ({ id }) => seen.push(await queue.get(id)), {
      worker: { name: "w1", incarnation: "i1" },
      lease: "7s",
    });
    expect(seen).toMatchObject([
      { state: "working", worker: { name: "w1", incarnation: "i1" }, deadlineAt: START + 7_000 },
    ]);
  });

  test("passes a task's progress on", async () => {
    const queue = rig.queue();
    await queue.enqueue(1, { id: "a", lease: "10s" });
    const seen: unknown[] = [];
    await drain(queue, async ({ id, extend }) => {
      rig.now += 2_000;
      seen.push(await extend(undefined, { progress: { done: 0.5 } }), await queue.get(id));
    });
    expect(seen).toMatchObject([
      { ok: true, state: "working", deadlineAt: START + 12_000 },
      { progress: { done: 0.5 }, deadlineAt: START + 12_000 },
    ]);
  });

  test("pulls no more tasks than its batch allows", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(many(9));
    const working: unknown[] = [];
    await drain(queue, async () => working.push(await rig.command("ZCARD", key("working"))), {
      batch: 2,
      concurrency: 1,
    });
    expect(Math.max(...working.map(Number))).toBe(2);
  });

  test("settles finished tasks while others still run", async () => {
    const queue = rig.queue({ now: undefined });
    await queue.enqueueMany([
      { payload: "quick", id: "quick" },
      { payload: "slow", id: "slow" },
    ]);
    const report = await drain(queue, async (task) => {
      if (task.id === "quick") return "done";
      // Only this lets it end.
      const { state, result } = (await queue.wait("quick", { for: "10s" })) ?? {};
      return [state, result];
    });
    expect(report).toEqual(reported({ completed: 2 }));
    expect(await queue.get("slow")).toMatchObject({ result: ["completed", "done"] });
  });

  test("that is aborted before it begins does nothing", async () => {
    const { transport, sent } = noting(rig.transport);
    const signal = AbortSignal.abort();
    const report = await drain(rig.queue({ transport }), followingSignal, { signal });
    expect([report, sent]).toEqual([reportedWithMore({ ended: "aborted" }), []]);
  });
});
