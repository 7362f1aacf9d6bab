import { describe, expect, test } from "vitest";
import type { NewTask } from "../../src/index.ts";
import { drain } from "../../src/consumer/drain/drain.ts";
import { type Task } from "../../src/consumer/drain/types.ts";
import { NonRetryableError, type StoppedError } from "../../src/consumer/drain/failures.ts";
import { numbered } from "../support/new-tasks.ts";
import { useRig } from "../support/rig.ts";
import {
  hanging,
  followingSignal,
  pause,
  reported,
  reportedWithMore,
  givenUpError,
  stopOf,
} from "./draining.ts";

// Real time: a drain waits on the clock of this process, and leases on that of Redis.
const rig = useRig();
const queue = () => rig.queue<number>({ now: undefined });

describe("a timeout", () => {
  test("stops the handler, and its task is requeued with the error that it throws", async () => {
    await queue().enqueueMany(numbered(3));
    const codes: unknown[] = [];
    const report = await drain(
      queue(),
      async (task) => {
        if (task.payload !== 1) return;
        codes.push(((await stopOf(task)) as StoppedError).code);
        throw new Error("stopped in an orderly way");
      },
      { timeout: 200, backoff: ["1h"] },
    );
    expect(report).toEqual(reportedWithMore({ completed: 2, requeued: 1 }));
    expect(codes).toEqual(["timeout"]);
    expect(await queue().get("t1")).toMatchObject({
      state: "delayed",
      charged: 1,
      error: { message: "stopped in an orderly way" },
    });
  });

  test("completes the task of a handler that returns when it is stopped: its work is done", async () => {
    await queue().enqueueMany(numbered(1));
    const report = await drain(queue(), async (task) => ((await stopOf(task)) as StoppedError).code, {
      timeout: 100,
    });
    expect(report).toEqual(reported({ completed: 1 }));
    expect(await queue().get("t0")).toMatchObject({ state: "completed", result: "timeout" });
  });

  test("gives up a handler that hangs, and runs others in its place", async () => {
    await queue().enqueueMany(numbered(4));
    const began = performance.now();
    const report = await drain(queue(), ({ payload }) => (payload === 0 ? hanging() : payload), {
      concurrency: 1,
      timeout: 100,
      backoff: ["1h"],
    });
    expect(report).toEqual(reportedWithMore({ completed: 3, requeued: 1 }));
    // Some 600 ms, long before anything else is due.
    expect(performance.now() - began).toBeLessThan(4_000);
    expect(await queue().get("t0")).toMatchObject({ state: "delayed", error: givenUpError("timeout") });
  });

  test("gives the handler its grace time and no more if the drain is ended meanwhile", async () => {
    await queue().enqueueMany(numbered(1));
    const ending = new AbortController();
    const report = await drain(
      queue(),
      async (task) => {
        await stopOf(task);
        setTimeout(() => ending.abort(), 400);
        // It has half a second, from the timeout on.
        await pause(700);
      },
      { timeout: 100, signal: ending.signal, backoff: ["1h"] },
    );
    expect(report).toEqual(reportedWithMore({ requeued: 1, ended: "aborted" }));
    expect(await queue().get("t0")).toMatchObject({ state: "delayed", error: givenUpError("timeout") });
  });

  test("ignores what the handler does later", async () => {
    await queue().enqueueMany(numbered(2));
    const late: (() => void)[] = [];
    const report = await drain(
      queue(),
      ({ payload }) =>
        payload === 0
          ? new Promise((resolve) => late.push(() => resolve("late")))
          : new Promise((_, reject) => late.push(() => reject(new NonRetryableError("late")))),
      { timeout: 100, backoff: ["1h"] },
    );
    for (const speak of late) speak();
    await pause(50);
    expect(report).toEqual(reportedWithMore({ requeued: 2 }));
    expect(await queue().get("t0")).toMatchObject({ state: "delayed", error: givenUpError("timeout") });
    expect(await queue().get("t1")).toMatchObject({ state: "delayed", error: givenUpError("timeout") });
  });
});

describe("a cancel", () => {
  const long = { lease: "1s", backoff: ["1h"] } as const;

  test("stops the handler; an error that it then throws ends the task as cancelled", async () => {
    await queue().enqueueMany(numbered(1));
    const codes: unknown[] = [];
    const report = await drain(
      queue(),
      async (task) => {
        await queue().cancel(task.id);
        codes.push(((await stopOf(task)) as StoppedError).code);
        return followingSignal(task);
      },
      long,
    );
    expect([report, codes]).toEqual([reported({ rejected: 1 }), ["cancelled"]]);
    expect(await queue().get("t0")).toMatchObject({ state: "rejected", reason: "cancelled" });
  });

  test("is seen within extendEvery, however long the lease", async () => {
    await queue().enqueueMany(numbered(1));
    const codes: unknown[] = [];
    const report = await drain(
      queue(),
      async (task) => {
        await queue().cancel(task.id);
        codes.push(((await stopOf(task)) as StoppedError).code);
        return followingSignal(task);
      },
      { extendEvery: "500ms" },
    );
    expect([report, codes]).toEqual([reported({ rejected: 1 }), ["cancelled"]]);
  });

  test("keeps the result of a handler that has done its work", async () => {
    await queue().enqueueMany(numbered(1));
    const report = await drain(
      queue(),
      async (task) => {
        await queue().cancel(task.id);
        await stopOf(task);
        return "done all the same";
      },
      long,
    );
    expect(report).toEqual(reported({ completed: 1 }));
    expect(await queue().get("t0")).toMatchObject({ state: "completed", result: "done all the same" });
  });

  test("stops only the task that it is for", async () => {
    await queue().enqueueMany(numbered(2));
    let other: Task<number> | undefined;
    const report = await drain(
      queue(),
      async (task) => {
        if (task.payload === 1) {
          other = task;
          return queue().wait("t0", { for: "10s" });
        }
        await queue().cancel(task.id);
        return followingSignal(task);
      },
      long,
    );
    expect([report, other?.signal.aborted]).toEqual([reported({ completed: 1, rejected: 1 }), false]);
  });

  test("of a task that is leased but not begun prevents its start", async () => {
    await queue().enqueueMany(numbered(3));
    const begun: string[] = [];
    const report = await drain(
      queue(),
      async ({ id, payload }) => {
        begun.push(id);
        if (payload !== 0) return;
        await queue().cancel("t1");
        await pause(1_500);
      },
      { ...long, concurrency: 1 },
    );
    expect([report, begun]).toEqual([reported({ completed: 2, rejected: 1 }), ["t0", "t2"]]);
    expect(await queue().get("t1")).toMatchObject({ state: "rejected", reason: "cancelled" });
  });

  test("is reported by the answer to the handler's own extend, too", async () => {
    await queue().enqueueMany(numbered(1));
    const codes: unknown[] = [];
    const report = await drain(queue(), async (task) => {
      await queue().cancel(task.id);
      await task.extend("1m");
      codes.push((task.signal.reason as StoppedError).code);
      return followingSignal(task);
    });
    expect([report, codes]).toEqual([reported({ rejected: 1 }), ["cancelled"]]);
  });
});

describe("leases", () => {
  test("are extended as long as the work lasts, and for tasks that wait for a free handler", async () => {
    rig.now = Date.now();
    const clocked = rig.queue<number>();
    await clocked.enqueueMany(numbered(6));
    const stolen: string[] = [];
    // Three rounds of two handlers. In each, Redis's clock goes on by 150 s, but never by more than 50 s between
    // two extends, however slow the machine is.
    const handler = async () => {
      for (let looks = 0; looks < 3; looks++) {
        rig.now += 25_000;
        const leasedUntil = rig.now + 60_000;
        const areExtended = async () => {
          const { tasks } = await rig.operator().list({ state: "working" });
          return tasks.every(({ deadlineAt }) => Number(deadlineAt) >= leasedUntil);
        };
        await expect.poll(areExtended, { timeout: 10_000 }).toBe(true);
        stolen.push(...(await clocked.dequeue({ max: 10 })).map(({ id }) => id));
      }
    };
    const options = { lease: "1m", extendEvery: 250, concurrency: 2, batch: 6 } as const;
    const report = await drain(clocked, handler, options);
    expect([report, stolen]).toEqual([reported({ completed: 6 }), []]);
  });

  test("with little time left on arrival, as after a resent pull, are extended in time", async () => {
    // A clock in Redis that is behind has the same effect: six seconds are left of a minute.
    rig.now = Date.now() - 54_000;
    const clocked = rig.queue<number>();
    await clocked.enqueueMany(numbered(1));
    const deadlineAt = async () => (await clocked.get("t0"))?.deadlineAt;
    const handler = async () => {
      rig.now += 1;
      // After two seconds, a third of what is left; a third of the whole is twenty.
      await expect.poll(deadlineAt, { timeout: 10_000 }).toBe(rig.now + 60_000);
    };
    const report = await drain(clocked, handler, { lease: "1m", extendEvery: "1h" });
    expect(report).toEqual(reported({ completed: 1 }));
  });

  test("that are lost stop the handler, and what it returns is not kept", async () => {
    await queue().enqueueMany(numbered(1));
    const codes: unknown[] = [];
    const report = await drain(
      queue(),
      async (task) => {
        if (task.attempt === 2) return "second";
        await rig.operator().failWorker("w");
        codes.push(((await stopOf(task)) as StoppedError).code);
        return "first";
      },
      { lease: "1s", worker: { name: "w" } },
    );
    expect([report, codes]).toEqual([reported({ completed: 1, lost: 1 }), ["lease_lost"]]);
    expect(await queue().get("t0")).toMatchObject({ state: "completed", attempt: 2, result: "second" });
  });

  test.each([
    ["goes on to the next", false, reported({ completed: 2, lost: 1 }), ["t0", "t2"]],
    [
      "is not handed back",
      true,
      reportedWithMore({ completed: 1, lost: 1, handedBack: 1, ended: "aborted" }),
      ["t0"],
    ],
  ])(
    "that are lost while the task waits for a free handler: the drain %s",
    async (_, closes, expected, begun) => {
      const clocked = rig.queue<number>();
      const [t0, t1, t2] = numbered(3) as [NewTask<number>, NewTask<number>, NewTask<number>];
      await clocked.enqueueMany([t0, { ...t1, lease: "1s" }, t2]);
      const closing = new AbortController();
      const ids: string[] = [];
      const handler = async ({ id }: Task) => {
        ids.push(id);
        if (id !== "t0") return;
        rig.now += 1_001;
        await (await clocked.dequeue())[0]?.complete("by another");
        // Past half of that lease.
        await pause(800);
        if (closes) closing.abort();
      };
      const report = await drain(clocked, handler, { concurrency: 1, closing: closing.signal });
      expect([report, ids]).toEqual([expected, begun]);
      expect(await clocked.get("t1")).toMatchObject({ result: "by another", attempt: 2 });
    },
  );

  test("that are lost unnoticed make the late settlement a refusal", async () => {
    const clocked = rig.queue<number>();
    await clocked.enqueueMany(numbered(1));
    const report = await drain(
      clocked,
      async () => {
        rig.now += 10_001;
        await (await clocked.dequeue())[0]?.complete("by another");
        return "by the drain";
      },
      { lease: "10s" },
    );
    expect(report).toEqual(reported({ lost: 1 }));
    expect(await clocked.get("t0")).toMatchObject({ state: "completed", attempt: 2, result: "by another" });
  });
});
