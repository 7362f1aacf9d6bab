import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { drain } from "../../src/consumer/drain/drain.ts";
import { numbered } from "../support/new-tasks.ts";
import { useRig } from "../support/rig.ts";
import { followingSignal, pause, reported, reportedWithMore } from "./draining.ts";

// Real time: a drain waits on the clock of this process.
const rig = useRig();
const queue = () => rig.queue<number>({ now: undefined });

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

  test("stops handlers that still run when its signal aborts as well", async () => {
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
  });

  test("that was closed before it began pulls nothing", async () => {
    await queue().enqueueMany(numbered(2));
    const report = await drain(queue(), () => undefined, { closing: AbortSignal.abort() });
    expect(report).toMatchObject(reported({ ended: "aborted", nextDueAt: expect.anything() as number }));
    expect(await queue().counts()).toMatchObject({ pending: 2, working: 0 });
  });

  test("gives up a wait for tasks at once", async () => {
    const closing = new AbortController();
    setTimeout(() => closing.abort(), 200);
    const report = await drain(queue(), () => undefined, {
      closing: closing.signal,
      wait: "20s",
      budget: "1m",
    });
    expect(report).toMatchObject({ ended: "aborted", completed: 0 });
  });

  test("leaves no listener on its signals, which may outlive many drains", async () => {
    await queue().enqueueMany(numbered(2));
    const [closing, signal] = [new AbortController().signal, new AbortController().signal];
    await drain(queue(), () => undefined, { closing, signal });
    expect([closing, signal].map((one) => getEventListeners(one, "abort"))).toEqual([[], []]);
  });

  test("takes only an AbortSignal for it", async () => {
    await expect(drain(queue(), () => undefined, { closing: true as never })).rejects.toMatchObject({
      code: "invalid_argument",
      path: "closing",
    });
  });
});
