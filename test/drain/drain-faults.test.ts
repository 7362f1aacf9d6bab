import { describe, expect, test } from "vitest";
import { SluiceError, type Transport } from "../../src/index.ts";
import { drain } from "../../src/drain/drain.ts";
import type { DrainOptions, Handler } from "../../src/drain/types.ts";
import { numbered } from "../support/new-tasks.ts";
import { START, useRig } from "../support/rig.ts";
import { useSimulatedTime } from "../support/simulated-time.ts";
import { failing, followingSignal, noting, pause, reported, reportedWithMore } from "./draining.ts";
import { stopOf, unreachable } from "./draining.ts";

const rig = useRig();
useSimulatedTime(rig);
const add = (count: number) => rig.queue().enqueueMany(numbered(count));
const counts = () => rig.queue().counts();

/** Drains over a transport whose requests fail as `when` says. Returns the error, and the scripts of each request. */
async function failed(
  when: Parameters<typeof failing>[1],
  handler: Handler = () => undefined,
  options: DrainOptions = {},
) {
  const { transport, sent } = noting(failing(rig, when));
  const error = await drain(rig.queue({ transport }), handler, options).catch((thrown: unknown) => thrown);
  return { error, sent };
}

describe("when a request fails", () => {
  const pullAndTwoTries = [["dequeue"], ["settleAndDequeue"], ["settle"]];

  test("the first, the drain throws and has begun nothing", async () => {
    await add(1);
    const { error, sent } = await failed(
      () => "before",
      () => expect.unreachable(),
    );
    expect([error, sent]).toEqual([unreachable, [["dequeue"]]]);
  });

  test("a later one, it tries once more to settle, hands back tasks not begun, and throws", async () => {
    await add(20);
    const { error, sent } = await failed((request) => (request === 1 ? "before" : undefined));
    expect([error, sent]).toEqual([unreachable, pullAndTwoTries]);
    expect(await counts()).toMatchObject({ pending: 10, working: 0, delayed: 0 });
    expect(await rig.queue().get("t9")).toMatchObject({ state: "completed" });
  });

  test("each after the first, it gives up after two: leases expire, and nothing is lost", async () => {
    await add(5);
    const { error, sent } = await failed((request) => (request > 0 ? "before" : undefined), undefined, {
      lease: "1m",
    });
    expect([error, sent]).toEqual([unreachable, pullAndTwoTries]);
    expect(await counts()).toMatchObject({ working: 5 });
    rig.now += 60_001;
    expect(await drain(rig.queue(), () => undefined)).toEqual(reported({ completed: 5 }));
  });

  test("and the last try in another way, it throws the first fault; an error that is not the transport's as it is", async () => {
    await add(1);
    const another = new SluiceError("redis_error", "the second");
    expect((await failed((request) => [undefined, "before" as const, another][request])).error).toBe(
      unreachable,
    );
    const bug = new RangeError("a bug");
    expect((await failed(() => bug)).error).toBe(bug);
  });

  test("after Redis ran it, what it settled stays settled", async () => {
    await add(15);
    const { error } = await failed(
      (request) => (request === 1 ? "after" : undefined),
      ({ attempt }) => attempt,
      { lease: "1m" },
    );
    expect(error).toBe(unreachable);
    expect(await rig.queue().get("t3")).toMatchObject({ state: "completed", result: 1, attempt: 1 });
    // The tasks of the lost reply stay leased without a consumer, until their leases expire.
    expect(await counts()).toMatchObject({ pending: 0, working: 5 });
    rig.now += 60_001;
    expect(await drain(rig.queue(), () => undefined)).toEqual(reported({ completed: 5 }));
  });

  test("that extends leases, running handlers still end and are settled", async () => {
    await add(3);
    const { error } = await failed(
      (request, scripts) => (scripts === "settle" && request === 1 ? "before" : undefined),
      () => pause(1_500),
      { lease: "1s", concurrency: 2 },
    );
    expect(error).toBe(unreachable);
    expect(await counts()).toMatchObject({ pending: 1, working: 0 });
    expect(await rig.queue().get("t0")).toMatchObject({ state: "completed" });
    expect(await rig.queue().get("t2")).toMatchObject({ state: "pending", charged: 0 });
  });
});

describe("when Redis does not answer", () => {
  test.each([
    ["to the first settlements", () => 1, 1, 1_000],
    ["to the last", followingSignal, 1, 1_800],
    ["to the first pull", () => expect.unreachable(), 0, 1_000],
  ])(
    "%s, the drain still ends soon after its budget, and says so",
    async (_, handler, answers, endsAfter) => {
      await add(2);
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
      expect(await counts()).toMatchObject({ working: 2 * answers, pending: 2 - 2 * answers });
      expect([requests, rig.now - START]).toEqual([answers + 1, endsAfter]);
    },
  );

  test("to the last settlements until the budget is over, a later answer still counts", async () => {
    await add(2);
    let requests = 0;
    const send: Transport["send"] = async (commands, options) => {
      if (requests++ > 0) await pause(500);
      return rig.transport.send(commands, options);
    };
    // Handlers are stopped 200 ms before the end.
    const report = await drain(rig.queue({ transport: { send } }), stopOf, { budget: "1s" });
    expect(report).toEqual(reportedWithMore({ completed: 2, ended: "budget" }));
  });

  test("to a pull, running handlers are stopped in time", async () => {
    await add(1);
    let held: (() => void) | undefined;
    const { transport, sent } = noting({
      send: async (commands, options) => {
        if (sent.length === 2) await new Promise<void>((resolve) => (held = resolve));
        return rig.transport.send(commands, options);
      },
    });
    const handler = async (task: Parameters<typeof followingSignal>[0]) => {
      await rig.queue().enqueue("more");
      await followingSignal(task).catch(() => held?.());
    };
    // The second pull is sent at once: the first was full.
    const options = { budget: "1s", batch: 1, concurrency: 2 } as const;
    expect(await drain(rig.queue({ transport }), handler, options)).toEqual(
      reportedWithMore({ completed: 1, handedBack: 1, ended: "budget" }),
    );
  });
});

describe("when handlers block the event loop", () => {
  test("past the budget, finished tasks are still settled", async () => {
    await add(3);
    const handler = () => void (rig.now += 2_500);
    const report = await drain(rig.queue(), handler, { budget: "1s" });
    expect(report).toEqual(reportedWithMore({ completed: 1, handedBack: 2, ended: "budget" }));
    expect(await counts()).toMatchObject({ pending: 2, working: 0 });
  });

  test("for most of a lease, the next begins only after its lease is extended", async () => {
    await add(4);
    const events: unknown[] = [];
    const send: Transport["send"] = async (commands, options) => {
      const outcomes = await rig.transport.send(commands, options);
      await pause(50);
      events.push("answer");
      return outcomes;
    };
    const handler = ({ payload }: { payload: number }) => {
      events.push(payload);
      if (payload < 2) rig.now += 700;
    };
    const options = { lease: "1s", concurrency: 1 } as const;
    const report = await drain(rig.queue<number>({ transport: { send } }), handler, options);
    expect(report).toEqual(reported({ completed: 4 }));
    expect(events.slice(0, 7)).toEqual(["answer", 0, "answer", 1, "answer", 2, 3]);
  });

  test("one after the other, the event loop gets turns in between, and nothing waits longer than needed", async () => {
    await add(60);
    const events: string[] = [];
    const handler = () => {
      rig.now += 40;
      events.push("handler");
    };
    const noteTurns = () => {
      events.push("turn");
      if (events.filter((event) => event === "handler").length < 60) setImmediate(noteTurns);
    };
    noteTurns();
    const report = await drain(rig.queue(), handler, { batch: 60, concurrency: 3, budget: "1m" });
    expect(report).toEqual(reported({ completed: 60 }));
    expect(events.join()).not.toContain("handler,handler,handler");
    expect(rig.now - START).toBe(60 * 40);
  });
});
