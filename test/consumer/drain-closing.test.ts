import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { drain } from "../../src/consumer/drain/drain.ts";
import { numbered } from "../support/new-tasks.ts";
import { START, useRig } from "../support/rig.ts";
import { useSimulatedTime } from "../support/simulated-time.ts";
import { followingSignal, noting, pause, reported, reportedWithMore } from "./draining.ts";

const rig = useRig();
useSimulatedTime(rig);
const queue = () => rig.queue<number>();

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
