import { describe, expect, test } from "vitest";
import { SluiceError, type Transport } from "../../src/index.ts";
import { drain } from "../../src/drain/drain.ts";
import type { DrainOptions, Task } from "../../src/drain/types.ts";
import { numbered } from "../support/new-tasks.ts";
import { START, useRig } from "../support/rig.ts";
import { useSimulatedTime } from "../support/simulated-time.ts";
import { noting, pause, reported, reportedWithMore } from "./draining.ts";

const rig = useRig();
useSimulatedTime(rig);
const queue = (transport: Transport = rig.transport) => rig.queue<number>({ transport });
const passed = () => rig.now - START;
const never = () => expect.unreachable();

describe("a drain that waits", () => {
  test("begins tasks that come during the wait, and ends when none came for that long", async () => {
    const begun: number[] = [];
    const report = drain(queue(), ({ payload }) => begun.push(payload, passed()), { wait: "1s" });
    for (const payload of [1, 2, 3]) {
      await pause(400);
      await queue().enqueue(payload);
    }
    expect(await report).toEqual(reported({ completed: 3 }));
    // It looks after 100, 300 and 700 ms. After each pull tasks gather for a second.
    expect([begun, passed()]).toEqual([[1, 700, 2, 1_700, 3, 1_700], 3_700]);
  });

  test("waits no longer than its budget allows, even if the answer to its last pull comes after its time: nothing was left", async () => {
    for (const delay of [0, 150]) {
      const send: Transport["send"] = async (commands, options) => {
        const outcomes = await rig.transport.send(commands, options);
        if (delay > 0) await pause(delay);
        return outcomes;
      };
      const begin = rig.now;
      expect(await drain(queue({ send }), never, { wait: "1m", budget: "1s" })).toEqual(reported());
      expect(rig.now - begin).toBeLessThan(1_000);
    }
  });

  test("settles finished tasks and extends running ones while it waits", async () => {
    await queue().enqueueMany(numbered(2));
    const handler = async ({ payload }: Task<number>) => {
      if (payload === 0) return;
      await queue().wait("t0", { for: "15s" });
      await pause(1_500);
    };
    const report = await drain(queue(), handler, { wait: "5s", lease: "1s" });
    expect(report).toEqual(reported({ completed: 2 }));
    expect(await queue().get("t1")).toMatchObject({ state: "completed", attempt: 1 });
  });

  test("extends a lease first that is due when it begins to wait, because it hears of leases late", async () => {
    await queue().enqueueMany(numbered(2));
    const closing = new AbortController();
    const handler = async ({ id, payload }: Task<number>) => {
      if (payload === 0) {
        await pause(50);
        // As if something blocked the event loop when this handler has ended.
        rig.now += 500;
        return;
      }
      await pause(600);
      expect((await queue().get(id))?.deadlineAt).toBe(START + 550 + 300_000);
      closing.abort();
    };
    const options = { wait: "15s", extendEvery: 250, concurrency: 2, closing: closing.signal } as const;
    expect(await drain(queue(), handler, options)).toEqual(reported({ completed: 2, ended: "aborted" }));
  });

  test("begins a wait once a second if nothing comes while a handler runs, however short the wait", async () => {
    await queue().enqueue(0);
    const { transport, sent } = noting(rig.transport);
    const report = await drain(queue(transport), () => pause(3_000), { wait: 100, concurrency: 2 });
    expect(report).toEqual(reported({ completed: 1 }));
    // Each wait dequeues twice, and looks once.
    expect(sent.length).toBe(9);
  });

  test("pulls a trickle of tasks together, twice a second, and settles meanwhile", async () => {
    const { transport, sent } = noting(rig.transport);
    const report = drain(queue(transport), () => undefined, { wait: "2s", concurrency: 20 });
    for (let i = 0; i < 40; i++) {
      await queue().enqueue(i);
      await pause(40);
    }
    const pulls = sent.filter(([name]) => name === "dequeue" || name === "settleAndDequeue");
    expect(pulls.length).toBeLessThanOrEqual(2 + (2 * passed()) / 500);
    expect(await report).toEqual(reported({ completed: 40 }));
    // On its own, because no pull is due yet.
    expect(sent).toContainEqual(["settle"]);
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
    const report = drain(queue(transport), never, { wait: "20s", signal: ending.signal });
    await pause(300);
    await queue().enqueueMany(numbered(2));
    expect(await report).toEqual(reportedWithMore({ handedBack: 2, ended: "aborted" }));
    expect(sent.slice(-2)).toEqual([["dequeue"], ["settle"]]);
    expect(await queue().get("t0")).toMatchObject({ state: "pending", charged: 0 });
  });
});

describe("a drain with free handlers pulls again while others run", () => {
  const SECOND = 1;

  /** Drains; the first handler goes on until that of the second task, enqueued by `then`, has begun. */
  async function drainUntilSecond(
    then: () => Promise<unknown>,
    options: DrainOptions = {},
    over = rig.transport,
  ) {
    // If Redis does not know settle yet, the pull after it in the request runs before it.
    await queue().enqueue(0);
    await drain(queue(), () => undefined);
    const { transport, sent } = noting(over);
    await queue().enqueue(0);
    let secondBegan = () => {};
    const second = new Promise<void>((resolve) => (secondBegan = resolve));
    const handler = async ({ payload }: Task<number>) => {
      if (payload === SECOND) return secondBegan();
      await then();
      await second;
    };
    expect(await drain(queue(transport), handler, options)).toEqual(reported({ completed: 2 }));
    return sent;
  }

  test("a second after a pull that left nothing, once, because a producer may have sent no wake in between", async () => {
    const sent = await drainUntilSecond(() => queue().enqueue(SECOND));
    expect([sent.slice(0, 2), passed()]).toEqual([[["dequeue"], ["dequeue"]], 1_000]);
  });

  test("over TCP a tenth of a second after it", async () => {
    const { send } = rig.transport;
    const sent = await drainUntilSecond(() => queue().enqueue(SECOND), {}, { send, connected: true });
    expect([sent.slice(0, 2), passed()]).toEqual([[["dequeue"], ["dequeue"]], 100]);
  });

  test("at once when it is notified", async () => {
    let look = () => {};
    const then = async () => {
      // It has pulled by then.
      await pause(1_500);
      await queue().enqueue(SECOND);
      look();
    };
    await drainUntilSecond(then, { listen: (given) => (look = given) });
    expect(passed()).toBe(1_500);
  });

  test("again, if it is notified during a pull", async () => {
    let look = () => {};
    let dequeues = 0;
    const send: Transport["send"] = async (commands, options) => {
      const outcomes = await rig.transport.send(commands, options);
      // The second pull has not seen a task that comes now.
      if (++dequeues === 2) {
        await queue().enqueue(SECOND);
        look();
      }
      return outcomes;
    };
    const sent = await drainUntilSecond(async () => {}, { listen: (given) => (look = given) }, { send });
    expect([sent.slice(0, 3), passed()]).toEqual([[["dequeue"], ["dequeue"], ["dequeue"]], 1_000]);
  });

  test("not while no handler is free", async () => {
    const { transport, sent } = noting(rig.transport);
    let look = () => {};
    await queue().enqueueMany(numbered(2));
    const before: number[] = [];
    const handler = async () => {
      look();
      await pause(1_300);
      before.push(sent.length);
    };
    const options = { concurrency: 1, batch: 1, listen: (given: () => void) => (look = given) };
    expect(await drain(queue(transport), handler, options)).toEqual(reported({ completed: 2 }));
    expect(before[0]).toBe(1);
  });
});
