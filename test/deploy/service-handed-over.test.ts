import { beforeEach, describe, expect, test, vi } from "vitest";
import type { DeploymentTools } from "../../src/deploy/service.ts";
import type { Task, Transport } from "../../src/index.ts";
import { useRig } from "../support/rig.ts";
import { useDeployments } from "./deployments.ts";
import { noneLeft, useHandOvers } from "./hand-overs.ts";

// What becomes of tasks that were handed over, and of others in the same drain.
const rig = useRig();
const its = useDeployments(rig);
const around = useHandOvers(rig, its);
const { called, deployment, recording } = around;

describe("a drain that began with a task finds", () => {
  const done: unknown[] = [];
  beforeEach(() => void done.splice(0));

  /** Does the first task, and returns what was done in its invocation. */
  async function doneBeside(first: (tools: DeploymentTools) => Promise<unknown>) {
    const handler = async ({ payload }: Task<never>, _: unknown, tools: DeploymentTools) => {
      done.push(payload);
      if (done.length === 1) await first(tools);
    };
    await deployment({ emails: handler }, undefined, { platform: { budget: "30s" } }).request();
    return done;
  }

  /** A handler that does this with the first delivery alone. */
  const failingOnce = (first: () => Promise<unknown>) => async (task: Task<never>) => {
    done.push(task.payload);
    if (task.attempt === 1) await first();
  };

  /** A drain has just looked for what is due, so that the next ones need not. */
  const haveLooked = () => deployment({ emails: () => {} }).request();

  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  test("a task that its handler delays for a moment", async () => {
    await haveLooked();
    const enqueue = (tools: DeploymentTools) => tools.queue("emails").enqueue("soon", { delay: "2s" });
    expect(await doneBeside(enqueue)).toEqual([1, "soon"]);
  });

  test("its own task, which failed and is due soon again", async () => {
    await haveLooked();
    const fails = async () => {
      throw new Error("once");
    };
    await deployment({ emails: { handler: failingOnce(fails), backoff: () => 2_000 } }).request();
    expect(done).toEqual([1, 1]);
  });

  test("a task that failed, and was put back by the call that took the next one", async () => {
    await haveLooked();
    const handler = async ({ payload, attempt }: Task<never>) => {
      done.push(payload);
      if (payload === "fails" && attempt === 1) throw new Error("once");
    };
    const consumer = { handler, backoff: () => 2_000, batch: 1, concurrency: 1 };
    const tasks = [{ payload: "fails" }, { payload: "next" }];
    await deployment({ emails: consumer }, tasks, { platform: { budget: "30s" } }).request();
    expect(done).toEqual(["fails", "next", "fails"]);
  });

  test("a task that failed while it dequeued", async () => {
    await haveLooked();
    let fail = () => {};
    const failing = new Promise<void>((_, reject) => (fail = () => reject(new Error("once"))));
    const handler = async ({ payload, attempt }: Task<never>) => {
      if (payload === "fails" && attempt === 1) await failing;
      if (payload === "long") await pause(4_000);
      done.push(payload);
    };
    let dequeues = 0;
    around.answered = async (script) => {
      // The second one is under way when the task fails.
      if (script !== "dequeue" || dequeues++ > 0) return;
      fail();
      await pause(1_500);
    };
    const tasks = [{ payload: "fails" }, { payload: "long" }];
    const platform = { budget: "30s" } as const;
    await deployment({ emails: { handler, backoff: () => 5_000 } }, tasks, { platform }).request();
    expect(done).toEqual(["long", "fails"]);
  });

  test("what others enqueue, at once", async () => {
    expect(await doneBeside(() => its.queue().enqueue("other"))).toEqual([1, "other"]);
  });

  test("what others have delayed", async () => {
    const work = async () => {
      await its.queue().enqueue("later", { delay: 100 });
      await pause(500);
    };
    expect(await doneBeside(work)).toEqual([1, "later"]);
  });

  test("what others have delayed, but at most once a minute: until then it is left to the sweep (law 3)", async () => {
    let work = async () => {};
    const handler = async ({ payload }: Task<never>) => {
      done.push(payload);
      if (payload === 1) await work();
    };
    const { request } = deployment({ emails: handler });
    // It looks, and finds nothing.
    await request();
    work = async () => {
      await its.queue().enqueue("later", { delay: 100 });
      await pause(500);
    };
    await request();
    work = async () => {};
    expect(done).toEqual([1, 1]);
    rig.now += 55_000;
    await request();
    expect(done).toEqual([1, 1, 1]);
    rig.now += 5_000;
    await request();
    expect(done).toEqual([1, 1, 1, 1, "later"]);
  });
});

describe("a task that was handed over", () => {
  test("is delivered again, as attempt 2, if the invocation dies", async () => {
    const attempts: number[] = [];
    const living = recording();
    const dying: Transport = {
      send: (...given) => (attempts.length > 0 ? new Promise(() => {}) : living.send(...given)),
    };
    const handler = ({ attempt }: Task<never>) => void attempts.push(attempt);
    const { call } = deployment({ emails: handler }, undefined, { platform: { transport: () => dying } });
    await call();
    await vi.waitUntil(() => attempts.length > 0, { timeout: 60_000, interval: 5 });
    expect(await its.queue().counts()).toMatchObject({ ...noneLeft, working: 1 });
    rig.now += 300_000;
    await deployment({ emails: handler }).cron();
    expect(attempts).toEqual([1, 2]);
    expect(await its.queue().counts()).toMatchObject(noneLeft);
  });

  test("is begun although its enqueue was aborted while it was sent, and is not added if it was aborted before", async () => {
    const done: unknown[] = [];
    const caller = new AbortController();
    const code = (error: { readonly code: string }) => error.code;
    const fetch = async (_: unknown, { queue }: DeploymentTools) =>
      Response.json(
        await queue("emails")
          .enqueueMany([{ payload: 1 }], caller)
          .catch(code),
      );
    around.answered = (script) => {
      if (script === "enqueueAndLease") caller.abort();
    };
    const { request } = deployment({ emails: ({ attempt }) => void done.push(attempt) }, [], { fetch });
    expect(await (await request()).json()).toBe("aborted");
    expect(done).toEqual([1]);
    called.splice(0);
    expect(await (await request()).json()).toBe("aborted");
    expect([done, called]).toEqual([[1], []]);
    expect(await its.queue().counts()).toMatchObject(noneLeft);
  });

  test("is worked on once if the reply to its enqueue was lost", async () => {
    const done: unknown[] = [];
    const { request } = deployment({ emails: ({ payload, attempt }) => void done.push([payload, attempt]) });
    let lost = 0;
    const { send } = rig.transport;
    rig.transport.send = async (commands, options) => {
      const outcomes = await send(commands, options);
      const last = commands.at(-1);
      if (!last || !("script" in last) || last.script.name !== "enqueueAndLease" || lost++ > 0)
        return outcomes;
      return rig.transport.send(commands, options);
    };
    await request();
    expect([done, lost]).toEqual([[[1, 1]], 2]);
    expect(called).toEqual(["enqueueAndLease", "settleAndDequeue"]);
  });

  test("is handed back unstarted by a process that closes, and another one begins it", async () => {
    const closing = new AbortController();
    const attempts: [string, number][] = [];
    const processOf = (name: string, signal?: AbortSignal) =>
      deployment({ emails: ({ attempt }) => void attempts.push([name, attempt]) }, undefined, {
        platform: { afterResponse: "any", drains: { closing: signal } },
      });
    around.answered = (script) => {
      if (script === "enqueueAndLease") closing.abort();
    };
    await processOf("closing", closing.signal).request();
    expect(attempts).toEqual([]);
    const [task] = await rig
      .operator()
      .list({ state: "pending" })
      .then(({ tasks }) => tasks);
    expect(task).toMatchObject({ state: "pending", attempt: 1, charged: 0 });
    // The sweep of another one takes the consumer that was to begin for lost.
    rig.now += 1_000;
    await processOf("other").cron();
    expect(attempts).toEqual([["other", 2]]);
  });

  test("is begun by a drain that another call has started meanwhile", async () => {
    const done: unknown[] = [];
    const begunAt: number[] = [];
    const process = deployment(
      {
        emails: {
          concurrency: 2,
          async handler({ payload }) {
            begunAt.push(performance.now());
            if (payload === "long") await new Promise((resolve) => setTimeout(resolve, 2_000));
            done.push(payload);
          },
        },
      },
      undefined,
      { platform: { afterResponse: "any" } },
    );
    let started: Promise<unknown> | undefined;
    around.answered = async (script) => {
      if (script !== "enqueueAndLease" || started) return;
      // Before its answer arrives, a wake starts the consumer.
      await its.queue().enqueue("long");
      started = process.ring("wake");
      await its.during(vi.waitUntil(() => begunAt.length === 1, { timeout: 60_000, interval: 5 }));
    };
    await process.request();
    await started;
    // At once, and not only when it looks again by itself.
    expect(done).toEqual([1, "long"]);
    expect(Number(begunAt[1]) - Number(begunAt[0])).toBeLessThan(100);
    expect(await its.queue().counts()).toMatchObject(noneLeft);
  });
});
