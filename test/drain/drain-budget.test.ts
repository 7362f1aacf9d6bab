import { describe, expect, test } from "vitest";
import { drain } from "../../src/drain/drain.ts";
import type { StoppedError } from "../../src/drain/failures.ts";
import { numbered } from "../support/new-tasks.ts";
import { START, useRig } from "../support/rig.ts";
import { useSimulatedTime } from "../support/simulated-time.ts";
import { followingSignal, givenUpError, hanging, pause } from "./draining.ts";
import { reported, reportedWithMore, stoppedError, stopOf } from "./draining.ts";

const rig = useRig();
useSimulatedTime(rig);
const queue = () => rig.queue<number>();

describe("the end of the budget", () => {
  // The last tenth is for the last request. Handlers are stopped a tenth before it.
  const short = { budget: "2s", backoff: ["1h"] } as const;

  test("stops handlers; their tasks are requeued with the error thrown, and those not begun are handed back", async () => {
    await queue().enqueueMany(numbered(6));
    const stops: unknown[] = [];
    const report = await drain(
      queue(),
      async (task) => {
        stops.push(((await stopOf(task)) as StoppedError).code, rig.now - START);
        return followingSignal(task);
      },
      { ...short, concurrency: 2 },
    );
    expect(report).toEqual(reportedWithMore({ requeued: 2, handedBack: 4, ended: "budget" }));
    expect(stops).toEqual(["budget", 1_600, "budget", 1_600]);
    const error = stoppedError("budget");
    expect(await queue().get("t0")).toMatchObject({ state: "delayed", charged: 1, error });
    expect(await queue().get("t5")).toMatchObject({ state: "pending", attempt: 1, charged: 0 });
    expect(await queue().counts()).toMatchObject({ pending: 4, delayed: 2, working: 0 });
  });

  test("requeues the tasks of handlers that hang", async () => {
    await queue().enqueueMany(numbered(3));
    expect(await drain(queue(), hanging, short)).toEqual(reportedWithMore({ requeued: 3, ended: "budget" }));
    expect(await queue().get("t2")).toMatchObject({ state: "delayed", error: givenUpError("budget") });
    expect(rig.now - START).toBe(1_800);
  });

  test("completes the tasks of handlers that return when they are stopped; reports if the last pull left something", async () => {
    await queue().enqueueMany(numbered(4));
    const report = await drain(queue(), stopOf, { ...short, batch: 3, concurrency: 3 });
    expect(report).toEqual(reported({ completed: 3, ended: "budget", nextDueAt: rig.now }));
  });

  test("reports that more may be waiting if it could not pull again", async () => {
    await queue().enqueue(0);
    const handler = async (task: Parameters<typeof stopOf>[0]) => {
      await stopOf(task);
      await queue().enqueue(1);
    };
    const report = await drain(queue(), handler, short);
    expect(report).toEqual(reported({ completed: 1, ended: "budget", nextDueAt: rig.now }));
  });

  test.each([
    ["of those it holds", { concurrency: 1, batch: 10 }, 7, 3],
    ["of those that it could pull", { concurrency: 2, batch: 4 }, 14, 0],
    ["so that few are pulled that cannot begin", { concurrency: 2, batch: 10 }, 14, 0],
  ])(
    "is planned for: no task is begun that would not end in time, %s",
    async (_, options, completed, handedBack) => {
      await queue().enqueueMany(numbered(40));
      const report = await drain(
        queue(),
        async ({ signal }) => {
          await pause(400);
          expect(signal.aborted).toBe(false);
        },
        { budget: "4s", ...options },
      );
      expect(report).toEqual(reportedWithMore({ completed, handedBack, ended: "budget" }));
      // It ends with the last handler: at 3,200 ms handlers would be stopped.
      expect(rig.now - START).toBeLessThan(3_200);
      expect(await queue().counts()).toMatchObject({ pending: 40 - completed, delayed: 0, working: 0 });
    },
  );

  test("is not estimated from a handler that hung until its timeout", async () => {
    await queue().enqueueMany(numbered(16));
    const handler = ({ payload }: { payload: number }) => (payload === 0 ? hanging() : pause(20));
    const options = { concurrency: 1, batch: 20, timeout: "1400ms", backoff: ["1h"] } as const;
    const report = await drain(queue(), handler, { budget: "4s", ...options });
    expect(report).toEqual(reportedWithMore({ completed: 15, requeued: 1 }));
  });

  test("comes at once if it is shorter than any request", async () => {
    await queue().enqueueMany(numbered(3));
    const report = await drain(queue(), () => pause(1), { budget: 1 });
    expect(report).toEqual(
      reportedWithMore({ ended: "budget", completed: report.completed, handedBack: 3 - report.completed }),
    );
    expect((await queue().counts()).working).toBe(0);
  });
});

describe("the drain's signal", () => {
  test("ends it early, as the end of the budget does", async () => {
    await queue().enqueueMany(numbered(9));
    const ending = new AbortController();
    const codes: unknown[] = [];
    const report = await drain(
      queue(),
      async (task) => {
        if (task.payload === 0) return "quick";
        if (task.payload === 1) return hanging();
        if (task.payload === 2) setTimeout(() => ending.abort(), 100);
        codes.push(((await stopOf(task)) as StoppedError).code);
        return followingSignal(task);
      },
      { signal: ending.signal, concurrency: 4, backoff: ["1h"] },
    );
    expect(report).toEqual(reportedWithMore({ completed: 1, requeued: 4, handedBack: 4, ended: "aborted" }));
    expect(codes).toEqual(["aborted", "aborted", "aborted"]);
    expect(await queue().get("t1")).toMatchObject({ state: "delayed", error: givenUpError("aborted") });
    expect(await queue().counts()).toMatchObject({ pending: 4, delayed: 4, working: 0 });
  });

  test("may be aborted by the first handler: no other begins", async () => {
    await queue().enqueueMany(numbered(5));
    const ending = new AbortController();
    const begun: string[] = [];
    const handler = ({ id }: { id: string }) => {
      begun.push(id);
      ending.abort();
    };
    const report = await drain(queue(), handler, { signal: ending.signal });
    expect(report).toEqual(reportedWithMore({ completed: 1, handedBack: 4, ended: "aborted" }));
    expect(begun).toEqual(["t0"]);
  });
});
