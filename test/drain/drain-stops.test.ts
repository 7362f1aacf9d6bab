import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import type { NewTask } from "../../src/index.ts";
import { drain } from "../../src/drain/drain.ts";
import type { DrainOptions, Task } from "../../src/drain/types.ts";
import { NonRetryableError, type StoppedError } from "../../src/drain/failures.ts";
import { numbered } from "../support/new-tasks.ts";
import { START, useRig } from "../support/rig.ts";
import { useSimulatedTime } from "../support/simulated-time.ts";
import { followingSignal, givenUpError, hanging, noting, pause } from "./draining.ts";
import { reported, reportedWithMore, stopOf } from "./draining.ts";

const rig = useRig();
useSimulatedTime(rig);
const queue = () => rig.queue<number>();
const codeOf = async (task: Task<number>) => ((await stopOf(task)) as StoppedError).code;
/** A handler that ends as soon as it is stopped, and returns why. */
const ending = async (task: Task<number>) => codeOf(task);

describe("a timeout", () => {
  const short = { timeout: 200, backoff: ["1h"] } as const;

  test("stops the handler, and its task is requeued with the error that it throws", async () => {
    await queue().enqueueMany(numbered(3));
    const stops: unknown[] = [];
    const handler = async (task: Task<number>) => {
      if (task.payload !== 1) return;
      stops.push(await codeOf(task), rig.now - START);
      throw new Error("stopped in an orderly way");
    };
    const report = await drain(queue(), handler, short);
    expect(report).toEqual(reportedWithMore({ completed: 2, requeued: 1 }));
    expect(stops).toEqual(["timeout", 200]);
    const error = { message: "stopped in an orderly way" };
    expect(await queue().get("t1")).toMatchObject({ state: "delayed", charged: 1, error });
  });

  test("gives up a handler that hangs, and runs others in its place", async () => {
    await queue().enqueueMany(numbered(4));
    const handler = ({ payload }: { payload: number }) => (payload === 0 ? hanging() : payload);
    const report = await drain(queue(), handler, { ...short, concurrency: 1 });
    expect(report).toEqual(reportedWithMore({ completed: 3, requeued: 1 }));
    // The handler has half a second to end.
    expect(rig.now - START).toBe(700);
    expect(await queue().get("t0")).toMatchObject({ state: "delayed", error: givenUpError("timeout") });
  });

  test("gives the handler its grace time and no more if the drain is ended meanwhile", async () => {
    await queue().enqueueMany(numbered(1));
    const aborting = new AbortController();
    const handler = async (task: Task<number>) => {
      await stopOf(task);
      setTimeout(() => aborting.abort(), 400);
      await pause(700);
    };
    const report = await drain(queue(), handler, { ...short, signal: aborting.signal });
    expect(report).toEqual(reportedWithMore({ requeued: 1, ended: "aborted" }));
    expect(rig.now - START).toBe(700);
    expect(await queue().get("t0")).toMatchObject({ state: "delayed", error: givenUpError("timeout") });
  });

  test("ignores what the handler does later", async () => {
    await queue().enqueueMany(numbered(2));
    const late: (() => void)[] = [];
    const handler = ({ payload }: { payload: number }) =>
      new Promise((resolve, reject) => {
        late.push(() => (payload === 0 ? resolve("late") : reject(new NonRetryableError("late"))));
      });
    const report = await drain(queue(), handler, short);
    for (const speak of late) speak();
    await pause(50);
    expect(report).toEqual(reportedWithMore({ requeued: 2 }));
    for (const id of ["t0", "t1"])
      expect(await queue().get(id)).toMatchObject({ state: "delayed", error: givenUpError("timeout") });
  });
});

describe("a cancel", () => {
  const cancelled = { state: "rejected", reason: "cancelled" };
  const cancelling =
    (then: (task: Task<number>) => unknown) =>
    async (task: Task<number>): Promise<unknown> => {
      await queue().cancel(task.id);
      return then(task);
    };

  const extending = async (task: Task<number>) => (await task.extend("1m"), followingSignal(task));
  test.each<[string, DrainOptions, (task: Task<number>) => unknown, after: number]>([
    ["stops the handler, whose error ends the task as cancelled", { lease: "3s" }, followingSignal, 1_000],
    ["is seen within extendEvery, however long the lease", { extendEvery: 500 }, followingSignal, 500],
    ["is reported by the answer to the handler's own extend, too", {}, extending, 0],
    ["keeps the result of a handler that has done its work", { lease: "3s" }, ending, 1_000],
  ])("%s", async (_, options, then, after) => {
    await queue().enqueueMany(numbered(1));
    const hasResult = then === ending;
    const counts = hasResult ? { completed: 1 } : { rejected: 1 };
    expect(await drain(queue(), cancelling(then), options)).toEqual(reported(counts));
    const completed = { state: "completed", result: "cancelled" };
    expect(await queue().get("t0")).toMatchObject(hasResult ? completed : cancelled);
    expect(rig.now - START).toBe(after);
  });

  test("stops only the task that it is for", async () => {
    await queue().enqueueMany(numbered(2));
    let other: Task<number> | undefined;
    const cancel = cancelling(followingSignal);
    const handler = async (task: Task<number>) => {
      if (task.payload === 0) return cancel(task);
      other = task;
      return queue().wait("t0", { for: "10s" });
    };
    const report = await drain(queue(), handler, { lease: "1s" });
    expect([report, other?.signal.aborted]).toEqual([reported({ completed: 1, rejected: 1 }), false]);
  });

  test("of a task that is leased but not begun prevents its start", async () => {
    await queue().enqueueMany(numbered(3));
    const begun: string[] = [];
    const handler = async ({ id, payload }: Task<number>) => {
      begun.push(id);
      if (payload !== 0) return;
      await queue().cancel("t1");
      await pause(1_500);
    };
    const report = await drain(queue(), handler, { lease: "1s", concurrency: 1 });
    expect([report, begun]).toEqual([reported({ completed: 2, rejected: 1 }), ["t0", "t2"]]);
    expect(await queue().get("t1")).toMatchObject(cancelled);
  });

  test("frees the place of a handler that does not end", async () => {
    await queue().enqueueMany(numbered(2));
    const begun: string[] = [];
    const handler = async ({ id, payload }: Task<number>) => {
      begun.push(id);
      if (payload !== 0) return;
      await queue().cancel(id);
      await hanging();
    };
    const report = await drain(queue(), handler, { lease: "3s", batch: 1, concurrency: 1 });
    expect([report, begun]).toEqual([reported({ completed: 1, rejected: 1 }), ["t0", "t1"]]);
    expect(await queue().get("t0")).toMatchObject(cancelled);
    // The cancel is seen after a second. The handler then has half a second to end.
    expect(rig.now - START).toBe(1_500);
  });
});

describe("leases", () => {
  test("are extended as long as the work lasts, and for tasks that wait for a free handler", async () => {
    await queue().enqueueMany(numbered(6));
    const stolen: string[] = [];
    // Three rounds of two handlers, each of more than two leases.
    const handler = async () => {
      for (let looks = 0; looks < 6; looks++) {
        await pause(25_000);
        stolen.push(...(await queue().dequeue({ max: 10 })).map(({ id }) => id));
      }
    };
    const options = { lease: "1m", concurrency: 2, batch: 6, budget: "1h" } as const;
    expect(await drain(queue(), handler, options)).toEqual(reported({ completed: 6 }));
    expect([stolen, rig.now - START]).toEqual([[], 450_000]);
  });

  test("with little time left on arrival, as after a resent pull, are extended in time", async () => {
    // A clock in Redis that is behind has the same effect: six seconds are left of a minute.
    const behind = rig.queue<number>({ now: () => rig.now - 54_000 });
    await behind.enqueueMany(numbered(1));
    const handler = async () => {
      await pause(2_100);
      return (await behind.get("t0"))?.deadlineAt;
    };
    const report = await drain(behind, handler, { lease: "1m", extendEvery: "1h" });
    expect(report).toEqual(reported({ completed: 1 }));
    // By the pull after a second: half of a third of what is left. The same of the whole is ten seconds.
    expect(await behind.get("t0")).toMatchObject({ result: START + 7_000 });
  });

  test("that are lost stop the handler, and what it returns is not kept", async () => {
    await queue().enqueueMany(numbered(1));
    const codes: unknown[] = [];
    const handler = async (task: Task<number>) => {
      if (task.attempt === 2) return "second";
      await rig.operator().failWorker("w");
      codes.push(await codeOf(task));
      return "first";
    };
    const report = await drain(queue(), handler, { lease: "1s", worker: { name: "w" } });
    expect([report, codes]).toEqual([reported({ completed: 1, lost: 1 }), ["lease_lost"]]);
    expect(await queue().get("t0")).toMatchObject({ state: "completed", attempt: 2, result: "second" });
  });

  test("that are lost free the place of a handler that does not end", async () => {
    await queue().enqueueMany(numbered(1));
    const begun: unknown[] = [];
    const handler = async (task: Task<number>) => {
      begun.push([task.id, task.attempt]);
      if (task.attempt > 1) return "second";
      await rig.operator().failWorker("w");
      return new Promise(() => {});
    };
    const options = { concurrency: 1, lease: "1s", worker: { name: "w" } } as const;
    expect(await drain(queue(), handler, options)).toEqual(reported({ completed: 1, lost: 1 }));
    expect(begun).toEqual([
      ["t0", 1],
      ["t0", 2],
    ]);
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
      const [t0, t1, t2] = numbered(3) as [NewTask<number>, NewTask<number>, NewTask<number>];
      await queue().enqueueMany([t0, { ...t1, lease: "1s" }, t2]);
      const closing = new AbortController();
      const ids: string[] = [];
      const handler = async ({ id }: Task<number>) => {
        ids.push(id);
        if (id !== "t0") return;
        rig.now += 1_001;
        await (await queue().dequeue())[0]?.complete("by another");
        await pause(1);
        if (closes) closing.abort();
      };
      const report = await drain(queue(), handler, { concurrency: 1, closing: closing.signal });
      expect([report, ids]).toEqual([expected, begun]);
      expect(await queue().get("t1")).toMatchObject({ result: "by another", attempt: 2 });
    },
  );

  test("that are lost unnoticed, as when handlers block the event loop, make the late settlement a refusal", async () => {
    await queue().enqueueMany(numbered(3));
    const handler = async ({ attempt }: Task<number>) => {
      if (attempt > 1) return "again";
      // The drain has done what is due.
      await pause(1);
      rig.now += 10_001;
      await (await queue().dequeue())[0]?.complete("by another");
      return "by the drain";
    };
    const report = await drain(queue(), handler, { lease: "10s", concurrency: 1, budget: "10m" });
    expect(report).toEqual(reported({ completed: 2, lost: 3 }));
    const tasks = await Promise.all(["t0", "t1", "t2"].map((id) => queue().get(id)));
    expect(tasks.map((task) => [task?.state, task?.attempt, task?.result])).toEqual([
      ["completed", 2, "by another"],
      ["completed", 2, "again"],
      ["completed", 2, "again"],
    ]);
  });
});

describe("a drain that is closing", () => {
  test("lets running handlers end, hands back tasks not begun, and pulls no more", async () => {
    await queue().enqueueMany(numbered(9));
    const closing = new AbortController();
    const stopped: string[] = [];
    const report = await drain(
      queue(),
      async ({ id, payload, signal }) => {
        signal.addEventListener("abort", () => stopped.push(id));
        if (payload === 1) closing.abort();
        await pause(300);
        return "done";
      },
      { closing: closing.signal, concurrency: 2, batch: 6 },
    );
    expect(report).toEqual(reportedWithMore({ completed: 2, handedBack: 4, ended: "aborted" }));
    expect(stopped).toEqual([]);
    expect(await queue().counts()).toMatchObject({ pending: 7, working: 0 });
    // Tasks handed back come first again, and their attempts do not count.
    const [next] = await queue().dequeue();
    expect(next).toMatchObject({ id: "t2" });
    expect(await queue().get("t2")).toMatchObject({ charged: 1 });
  });

  test("stops handlers that still run when its signal aborts as well; leaves no listener on its signals", async () => {
    await queue().enqueueMany(numbered(3));
    const [closing, ending] = [new AbortController(), new AbortController()];
    const report = await drain(
      queue(),
      (task) => {
        closing.abort();
        setTimeout(() => ending.abort(), 100);
        return followingSignal(task);
      },
      { closing: closing.signal, signal: ending.signal, concurrency: 1, backoff: ["1h"] },
    );
    expect(report).toEqual(reportedWithMore({ requeued: 1, handedBack: 2, ended: "aborted" }));
    expect(rig.now - START).toBe(100);
    // They may outlive many drains.
    const signals = [new AbortController().signal, new AbortController().signal] as const;
    await drain(queue(), () => undefined, { closing: signals[0], signal: signals[1] });
    expect(signals.map((one) => getEventListeners(one, "abort"))).toEqual([[], []]);
  });

  test.each(["closing", "signal"])(
    "that was ended before it began, by its %s, sends nothing",
    async (name) => {
      const { transport, sent } = noting(rig.transport);
      const report = await drain(rig.queue({ transport }), () => undefined, { [name]: AbortSignal.abort() });
      expect([report, sent]).toEqual([reportedWithMore({ ended: "aborted" }), []]);
    },
  );

  test.each(["closing", "signal"])("gives up a wait for tasks at once, by its %s", async (name) => {
    const ending = new AbortController();
    setTimeout(() => ending.abort(), 250);
    const options = { [name]: ending.signal, wait: "20s", budget: "1m" } as const;
    expect(await drain(queue(), () => undefined, options)).toEqual(reported({ ended: "aborted" }));
    expect(rig.now - START).toBe(250);
  });
});
