import { describe, expect, test } from "vitest";
import { SluiceError, type Transport } from "../../src/index.ts";
import { drain } from "../../src/consumer/drain/drain.ts";
import { sleep } from "../../src/sleep.ts";
import { numbered } from "../support/new-tasks.ts";
import { useRig } from "../support/rig.ts";
import { block, followingSignal, noting, pause, reported, reportedWithMore, stopOf } from "./draining.ts";

const rig = useRig();

const unreachable = new SluiceError("redis_unreachable", "no answer");

/**
 * Fails chosen requests, numbered from 0: before they reach Redis, or after, like a lost reply.
 */
function failing(when: (request: number, scripts: string) => "before" | "after" | undefined) {
  let requests = 0;
  const send: Transport["send"] = async (commands, options) => {
    const scripts = commands.map((command) => ("script" in command ? command.script.name : "")).join(" ");
    const fault = when(requests++, scripts);
    if (fault === "before") throw unreachable;
    const outcomes = await rig.transport.send(commands, options);
    if (fault === "after") throw unreachable;
    return outcomes;
  };
  return { send };
}

describe("when a request fails", () => {
  test("the first, the drain throws and has begun nothing", async () => {
    await rig.queue().enqueue(1);
    const { transport, sent } = noting(failing(() => "before"));
    await expect(drain(rig.queue({ transport }), () => expect.unreachable())).rejects.toBe(unreachable);
    expect(sent).toEqual([["dequeue"]]);
  });

  test("a later one, it tries once more to settle, hands back tasks not begun, and throws", async () => {
    await rig.queue().enqueueMany(numbered(20));
    const { transport, sent } = noting(failing((request) => (request === 1 ? "before" : undefined)));
    const queue = rig.queue({ transport });
    await expect(drain(queue, () => undefined)).rejects.toBe(unreachable);
    expect(sent).toEqual([["dequeue"], ["settleAndDequeue"], ["settle"]]);
    expect(await rig.queue().counts()).toMatchObject({ pending: 10, working: 0, delayed: 0 });
    expect(await rig.queue().get("t9")).toMatchObject({ state: "completed" });
  });

  test("each after the first, it gives up after two: leases expire, and nothing is lost", async () => {
    await rig.queue().enqueueMany(numbered(5));
    const { transport, sent } = noting(failing((request) => (request > 0 ? "before" : undefined)));
    await expect(drain(rig.queue({ transport }), () => undefined, { lease: "1m" })).rejects.toBe(unreachable);
    expect(sent).toEqual([["dequeue"], ["settleAndDequeue"], ["settle"]]);
    expect(await rig.queue().counts()).toMatchObject({ working: 5 });
    rig.now += 60_001;
    expect(await drain(rig.queue(), () => undefined)).toEqual(reported({ completed: 5 }));
  });

  test("and the last try in another way, it throws the first fault", async () => {
    await rig.queue().enqueue(1);
    const faults = [undefined, unreachable, new SluiceError("redis_error", "the second")];
    const send: Transport["send"] = async (commands, options) => {
      const fault = faults.shift();
      if (fault) throw fault;
      return rig.transport.send(commands, options);
    };
    await expect(drain(rig.queue({ transport: { send } }), () => undefined)).rejects.toBe(unreachable);
    expect(faults).toEqual([]);
  });

  test("after Redis ran it, what it settled stays settled", async () => {
    await rig.queue().enqueueMany(numbered(15));
    const transport = failing((request) => (request === 1 ? "after" : undefined));
    const errors = drain(rig.queue({ transport }), ({ attempt }) => attempt, { lease: "1m" });
    await expect(errors).rejects.toBe(unreachable);
    expect(await rig.queue().get("t3")).toMatchObject({ state: "completed", result: 1, attempt: 1 });
    // The tasks of the lost reply stay leased without a consumer, until their leases expire.
    expect(await rig.queue().counts()).toMatchObject({ pending: 0, working: 5 });
    rig.now += 60_001;
    expect(await drain(rig.queue(), () => undefined)).toEqual(reported({ completed: 5 }));
  });

  test("that extends leases, running handlers still end and are settled", async () => {
    await rig.queue().enqueueMany(numbered(3));
    const transport = failing((request, scripts) =>
      scripts === "settle" && request === 1 ? "before" : undefined,
    );
    const queue = rig.queue({ transport, now: undefined });
    const report = drain(queue, async () => pause(1_500), { lease: "1s", concurrency: 2 });
    await expect(report).rejects.toBe(unreachable);
    expect(await rig.queue().counts()).toMatchObject({ pending: 1, working: 0 });
    expect(await rig.queue().get("t0")).toMatchObject({ state: "completed" });
    expect(await rig.queue().get("t2")).toMatchObject({ state: "pending", charged: 0 });
  });

  test("with an error that is not the transport's, the drain throws that error", async () => {
    const bug = new RangeError("a bug");
    const send = () => Promise.reject(bug);
    await expect(drain(rig.queue({ transport: { send } }), () => undefined)).rejects.toBe(bug);
  });
});

describe("when Redis does not answer", () => {
  test.each([
    ["to the first settlements", () => 1, 1],
    ["to the last", followingSignal, 1],
    ["to the first pull", () => expect.unreachable(), 0],
  ])("%s, the drain still ends soon after its budget, and says so", async (_, handler, answers) => {
    await rig.queue().enqueueMany(numbered(2));
    let requests = 0;
    const send: Transport["send"] = (commands, options = {}) => {
      if (requests++ < answers) return rig.transport.send(commands, options);
      return new Promise((__, reject) => {
        options.signal?.addEventListener("abort", () => reject(new SluiceError("aborted", "given up")));
      });
    };
    const report = drain(rig.queue({ transport: { send } }), handler, { budget: "1s" });
    await expect(report).rejects.toMatchObject({
      code: "redis_unreachable",
      message: expect.stringMatching(/^Redis did not answer before the drain's budget ended/) as string,
    });
    expect(await rig.queue().counts()).toMatchObject({ working: 2 * answers, pending: 2 - 2 * answers });
    expect(requests).toBe(answers + 1);
  });

  test("to the last settlements until the budget is over, a later answer still counts", async () => {
    await rig.queue().enqueueMany(numbered(2));
    let requests = 0;
    const send: Transport["send"] = async (commands, options) => {
      if (requests++ > 0) await sleep(500, options?.signal);
      return rig.transport.send(commands, options);
    };
    // Handlers are stopped some 200 ms before the end.
    const report = await drain(rig.queue({ transport: { send } }), stopOf, { budget: "1s" });
    expect(report).toEqual(reportedWithMore({ completed: 2, ended: "budget" }));
  });

  test("to a pull, running handlers are stopped in time", async () => {
    await rig.queue().enqueueMany(numbered(1));
    let held: (() => void) | undefined;
    const { transport, sent } = noting({
      send: async (commands, options) => {
        if (sent.length === 2) await new Promise<void>((resolve) => (held = resolve));
        return rig.transport.send(commands, options);
      },
    });
    const queue = rig.queue({ transport });
    const report = drain(
      queue,
      async (task) => {
        await rig.queue().enqueue("more");
        await followingSignal(task).catch(() => held?.());
        return "stopped";
      },
      // The second pull is sent at once: the first was full.
      { budget: "1s", batch: 1, concurrency: 2 },
    );
    expect(await report).toEqual(reportedWithMore({ completed: 1, handedBack: 1, ended: "budget" }));
  });
});

describe("when handlers block the event loop", () => {
  test("past the budget, finished tasks are still settled", async () => {
    await rig.queue().enqueueMany(numbered(3));
    const queue = rig.queue<number>({ now: undefined });
    const report = await drain(queue, ({ payload }) => block(payload === 0 ? 2_500 : 0), { budget: "1s" });
    expect(report).toEqual(reportedWithMore({ completed: 1, handedBack: 2, ended: "budget" }));
    expect(await queue.counts()).toMatchObject({ pending: 2, working: 0 });
  });

  test("for most of a lease, the next begins only after its lease is extended", async () => {
    await rig.queue().enqueueMany(numbered(4));
    const events: unknown[] = [];
    const send: Transport["send"] = async (commands, options) => {
      const outcomes = await rig.transport.send(commands, options);
      await pause(50);
      events.push("answer");
      return outcomes;
    };
    const queue = rig.queue<number>({ transport: { send }, now: undefined });
    const handler = ({ payload }: { payload: number }) => {
      events.push(payload);
      block(payload < 2 ? 700 : 0);
    };
    const report = await drain(queue, handler, { lease: "1s", concurrency: 1 });
    expect(report).toEqual(reported({ completed: 4 }));
    expect(events.slice(0, 7)).toEqual(["answer", 0, "answer", 1, "answer", 2, 3]);
  });

  test("one after the other, requests are answered in between, and nothing waits longer than needed", async () => {
    await rig.queue().enqueueMany(numbered(60));
    const events: string[] = [];
    const send: Transport["send"] = async (commands, options) => {
      const outcomes = await rig.transport.send(commands, options);
      events.push("answer");
      return outcomes;
    };
    const queue = rig.queue({ transport: { send }, now: undefined });
    const began = performance.now();
    const handler = () => {
      block(40);
      events.push("handler");
    };
    const report = await drain(queue, handler, { batch: 60, concurrency: 3 });
    expect(report).toEqual(reported({ completed: 60 }));
    const between = events.slice(events.indexOf("handler"), events.lastIndexOf("handler"));
    expect(between).toContain("answer");
    // 2.4 s of work; a timer too few would make it a minute.
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});
