import { describe, expect, test } from "vitest";
import { SluiceError, type Transport } from "../../src/index.ts";
import { drain } from "../../src/consumer/drain/drain.ts";
import { numbered } from "../support/new-tasks.ts";
import { useRig } from "../support/rig.ts";
import { block, noting, pause, reported, reportedWithMore } from "./draining.ts";

// Real time: a long poll waits on the clock of this process.
const rig = useRig();
const queue = (transport?: Transport) =>
  rig.queue<number>({ now: undefined, ...(transport && { transport }) });

describe("a drain that waits", () => {
  test("begins tasks that come during the wait, and ends when none came for that long", async () => {
    const begun: number[] = [];
    const report = drain(queue(), ({ payload }) => begun.push(payload), { wait: "1s", budget: "20s" });
    for (const payload of [1, 2, 3]) {
      await pause(400);
      await queue().enqueue(payload);
    }
    expect([await report, begun]).toEqual([reported({ completed: 3 }), [1, 2, 3]]);
  });

  test("waits no longer than its budget allows", async () => {
    const began = performance.now();
    const report = await drain(queue(), () => undefined, { wait: "1m", budget: "1s" });
    expect(report).toEqual(reported());
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  test("reports that nothing was left, even if the answer to its last pull comes after its time", async () => {
    const send: Transport["send"] = async (commands, options) => {
      const outcomes = await rig.transport.send(commands, options);
      await pause(150);
      return outcomes;
    };
    expect(await drain(queue({ send }), () => undefined, { wait: "1m", budget: "1s" })).toEqual(reported());
  });

  test("settles finished tasks and extends running ones while it waits", async () => {
    await queue().enqueueMany(numbered(2));
    const report = await drain(
      queue(),
      async ({ payload }) => {
        if (payload === 0) return;
        await queue().wait("t0", { for: "15s" });
        await pause(1_500);
      },
      { wait: "5s", budget: "25s", lease: "1s" },
    );
    expect(report).toEqual(reported({ completed: 2 }));
    expect(await queue().get("t1")).toMatchObject({ state: "completed", attempt: 1 });
  });

  test("extends a lease first that is due when it begins to wait, because it hears of leases late", async () => {
    await queue().enqueueMany(numbered(2));
    const closing = new AbortController();
    const report = await drain(
      queue(),
      async ({ id, payload }) => {
        if (payload === 0) {
          await pause(50);
          // After the end of this handler, and before the drain has reacted to it.
          setImmediate(() => block(500));
          return;
        }
        const leased = await queue().get(id);
        const extended = async () => (await queue().get(id))?.deadlineAt;
        await pause(100);
        await expect.poll(extended, { timeout: 5_000 }).toBeGreaterThan(leased?.deadlineAt ?? Number.NaN);
        closing.abort();
      },
      { wait: "15s", budget: "25s", extendEvery: 250, concurrency: 2, closing: closing.signal },
    );
    expect(report).toEqual(reported({ completed: 2, ended: "aborted" }));
  });

  test("begins a wait once a second if nothing comes while a handler runs, however short the wait", async () => {
    await queue().enqueue(0);
    const { transport, sent } = noting(rig.transport);
    const report = await drain(queue(transport), () => pause(3_000), { wait: 100, concurrency: 2 });
    expect(report).toEqual(reported({ completed: 1 }));
    // About 9; without a pause it would be 60.
    expect(sent.length).toBeLessThan(25);
  });

  test("pulls a trickle of tasks together, twice a second, and settles meanwhile", async () => {
    const { transport, sent } = noting(rig.transport);
    const began = performance.now();
    const report = drain(queue(transport), () => undefined, { wait: "2s", budget: "25s", concurrency: 20 });
    for (let i = 0; i < 40; i++) {
      await queue().enqueue(i);
      await pause(40);
    }
    const pulls = () => sent.filter(([name]) => name === "dequeue" || name === "settleAndDequeue").length;
    // The first pull; then each half second at most one that finds nothing and one that ends its wait.
    expect(pulls()).toBeLessThanOrEqual(3 + (2 * (performance.now() - began)) / 500);
    expect(await report).toEqual(reported({ completed: 40 }));
    // On its own, because no pull is due yet.
    expect(sent).toContainEqual(["settle"]);
  });

  test("pulls new tasks for free handlers while others run", async () => {
    await queue().enqueue(0);
    const ended: number[] = [];
    const report = await drain(
      queue(),
      async ({ payload }) => {
        if (payload === 0) {
          await pause(100);
          const { id } = await queue().enqueue(1);
          await queue().wait(id, { for: "15s" });
        }
        ended.push(payload);
      },
      { wait: "1s", budget: "25s" },
    );
    expect([report, ended]).toEqual([reported({ completed: 2 }), [1, 0]]);
  });

  test("ends at once when it is aborted", async () => {
    const ending = new AbortController();
    setTimeout(() => ending.abort(), 300);
    const began = performance.now();
    const report = await drain(queue(), () => undefined, { wait: "20s", signal: ending.signal });
    expect(report).toEqual(reported({ ended: "aborted" }));
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  test("hands back tasks that were leased at the moment of its abort", async () => {
    const ending = new AbortController();
    // The reply with a lease is lost, because the drain is aborted before it arrives.
    const send: Transport["send"] = async (commands, options) => {
      const outcomes = await rig.transport.send(commands, options);
      if ((await queue().counts()).working > 0 && !ending.signal.aborted) {
        ending.abort();
        throw new SluiceError("aborted", "aborted meanwhile");
      }
      return outcomes;
    };
    const { transport, sent } = noting({ send });
    const report = drain(queue(transport), () => expect.unreachable(), {
      wait: "20s",
      signal: ending.signal,
    });
    await pause(300);
    await queue().enqueueMany(numbered(2));
    expect(await report).toEqual(reportedWithMore({ handedBack: 2, ended: "aborted" }));
    expect(sent.slice(-2)).toEqual([["dequeue"], ["settle"]]);
    expect(await queue().get("t0")).toMatchObject({ state: "pending", charged: 0 });
  });
});
