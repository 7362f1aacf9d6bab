import { describe, expect, test } from "vitest";
import { drain } from "../../src/consumer/drain/drain.ts";
import type { StoppedError } from "../../src/consumer/drain/failures.ts";
import { numbered } from "../support/new-tasks.ts";
import { useRig } from "../support/rig.ts";
import {
  hanging,
  followingSignal,
  leasedIn,
  pause,
  reportedWithMore,
  givenUpError,
  stoppedError,
  stopOf,
} from "./draining.ts";

// Real time: a drain waits on the clock of this process.
const rig = useRig();
const queue = () => rig.queue<number>({ now: undefined });

describe("the end of the budget", () => {
  const short = { budget: "2s", backoff: ["1h"] } as const;

  test("stops handlers; their tasks are requeued with the error thrown, and those not begun are handed back", async () => {
    await queue().enqueueMany(numbered(6));
    const codes: unknown[] = [];
    const report = await drain(
      queue(),
      async (task) => {
        codes.push(((await stopOf(task)) as StoppedError).code);
        return followingSignal(task);
      },
      { ...short, concurrency: 2 },
    );
    expect(report).toEqual(reportedWithMore({ requeued: 2, handedBack: 4, ended: "budget" }));
    expect(codes).toEqual(["budget", "budget"]);
    expect(await queue().get("t0")).toMatchObject({
      state: "delayed",
      charged: 1,
      error: stoppedError("budget"),
    });
    expect(await queue().get("t5")).toMatchObject({ state: "pending", attempt: 1, charged: 0 });
    expect(await queue().counts()).toMatchObject({ pending: 4, delayed: 2, working: 0 });
  });

  test("requeues the tasks of handlers that hang", async () => {
    await queue().enqueueMany(numbered(3));
    const began = performance.now();
    const report = await drain(queue(), hanging, short);
    expect(report).toEqual(reportedWithMore({ requeued: 3, ended: "budget" }));
    expect(await queue().get("t2")).toMatchObject({ state: "delayed", error: givenUpError("budget") });
    // Within two seconds, and as much again for a slow machine.
    expect(performance.now() - began).toBeLessThan(4_000);
  });

  test("completes the tasks of handlers that return when they are stopped", async () => {
    await queue().enqueueMany(numbered(3));
    const report = await drain(queue(), stopOf, short);
    expect(report).toEqual(reportedWithMore({ completed: 3, ended: "budget" }));
  });

  test("reports that more may be waiting if it could not pull again", async () => {
    await queue().enqueue(0);
    const report = await drain(
      queue(),
      async (task) => {
        await stopOf(task);
        await queue().enqueue(1);
      },
      short,
    );
    expect(report).toEqual(reportedWithMore({ completed: 1, ended: "budget" }));
    expect(report.nextDueAt).toBeLessThanOrEqual(Date.now());
  });

  test("reports that more is waiting if the last pull left something", async () => {
    await queue().enqueueMany(numbered(4));
    const report = await drain(queue(), stopOf, { ...short, batch: 3, concurrency: 3 });
    expect(report).toEqual(reportedWithMore({ completed: 3, ended: "budget" }));
    expect(report.nextDueAt).toBeLessThanOrEqual(Date.now());
  });

  test.each([
    ["of those it holds", { concurrency: 1, batch: 10 }],
    ["of those that it could pull", { concurrency: 2, batch: 4 }],
  ])("is planned for: no task %s is begun that would not end in time", async (_, options) => {
    await queue().enqueueMany(numbered(40));
    const stopped: unknown[] = [];
    const report = await drain(
      queue(),
      async (task) => {
        task.signal.addEventListener("abort", () => stopped.push(task.id));
        await pause(400);
      },
      { budget: "4s", ...options },
    );
    expect(report).toMatchObject({ requeued: 0, ended: "budget" });
    expect(stopped).toEqual([]);
    expect(report.completed).toBeGreaterThanOrEqual(2);
    const counts = await queue().counts();
    expect(counts).toMatchObject({ pending: 40 - report.completed, delayed: 0, working: 0 });
  });

  test("makes pulls smaller, so that few tasks are pulled that cannot begin", async () => {
    await queue().enqueueMany(numbered(40));
    const report = await drain(queue(), () => pause(400), { budget: "4s", concurrency: 2, batch: 10 });
    expect(report).toMatchObject({ requeued: 0, ended: "budget" });
    // Five rounds, two at once, make the first ten; then there is time for one or two.
    expect(report.handedBack).toBeLessThan(5);
  });

  test("is not estimated from a handler that hung until its timeout", async () => {
    await queue().enqueueMany(numbered(16));
    const report = await drain(queue(), ({ payload }) => (payload === 0 ? hanging() : pause(20)), {
      budget: "4s",
      concurrency: 1,
      batch: 20,
      timeout: "1400ms",
      backoff: ["1h"],
    });
    expect(report).toEqual(reportedWithMore({ completed: 15, requeued: 1 }));
  });

  test("comes at once if it is shorter than any request", async () => {
    await queue().enqueueMany(numbered(3));
    const report = await drain(queue(), () => undefined, { budget: 1 });
    expect(report).toMatchObject({ requeued: 0, lost: 0 });
    expect(leasedIn(report)).toBe(report.completed + report.handedBack);
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
    const report = await drain(
      queue(),
      ({ id }) => {
        begun.push(id);
        ending.abort();
      },
      { signal: ending.signal },
    );
    expect(report).toEqual(reportedWithMore({ completed: 1, handedBack: 4, ended: "aborted" }));
    expect(begun).toEqual(["t0"]);
  });
});
