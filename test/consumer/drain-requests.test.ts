import { afterEach, describe, expect, test, vi } from "vitest";
import type { Duration, Queue } from "../../src/index.ts";
import { drain, drainBatches } from "../../src/consumer/drain/drain.ts";
import type { TaskSource } from "../../src/consumer/drain/source.ts";
import { abreast } from "../support/abreast.ts";
import { useBilled } from "../support/billed.ts";
import { many } from "../support/new-tasks.ts";
import { leasedIn, pause, reported } from "./draining.ts";

// Requests, and commands as Upstash bills them. The counts are exact if handlers take no time.

const billed = useBilled(async ({ queue }) => {
  await queue.enqueue("warm", { resultTtl: 0 });
  await drain(queue, ({ extend }) => extend());
});

afterEach(() => vi.restoreAllMocks());

async function costOf(run: () => Promise<unknown>) {
  billed.gateway.resetUsage();
  await run();
  const { requests, commands } = billed.gateway.usage();
  return { requests, commands };
}

/**
 * Lets the clock go only during requests. A drain pulls less if its handlers seem slow: a pause of the machine
 * must not count as their work.
 */
function timedByRequests(queue: Queue): TaskSource {
  const now = performance.now.bind(performance);
  let [passed, since, open] = [now(), 0, 0];
  vi.spyOn(performance, "now").mockImplementation(() => passed + (open > 0 ? now() - since : 0));
  const timed =
    <Args extends unknown[], Reply>(call: (...args: Args) => Promise<Reply>) =>
    async (...args: Args): Promise<Reply> => {
      if (open++ === 0) since = now();
      try {
        return await call(...args);
      } finally {
        if (--open === 0) passed += now() - since;
      }
    };
  return {
    name: queue.name,
    dequeue: timed((options) => queue.dequeue(options)),
    settle: timed((settlements, options) => queue.settle(settlements, options)),
    settleAndDequeue: timed((settlements, options) => queue.settleAndDequeue(settlements, options)),
  };
}

describe("a drain costs", () => {
  test("5 commands in one request for an empty queue", async () => {
    expect(await costOf(() => drain(billed.queue, () => undefined))).toEqual({ requests: 1, commands: 5 });
  });

  test("two requests for a lone task: a pull that finds too few; a settle with a pull that finds nothing", async () => {
    await billed.queue.enqueue(1, { resultTtl: 0 });
    expect(await costOf(() => drain(billed.queue, () => undefined))).toEqual({
      requests: 2,
      commands: 8 + 9,
    });
  });

  test("11 requests for 100 quick tasks at 10 a pull: each settles ten and pulls the next", async () => {
    await billed.queue.enqueueMany(many(100, { resultTtl: 0 }));
    let report: unknown;
    const cost = await costOf(async () => {
      report = await drain(billed.queue, () => undefined, { batch: 10 });
    });
    expect(report).toEqual(reported({ completed: 100 }));
    expect(cost).toEqual({ requests: 11, commands: 6 + 9 * 8 + 9 });
  });

  test("3 requests for 100 quick tasks with an unlimited batch: it pulls 10, then all", async () => {
    await billed.queue.enqueueMany(many(100, { resultTtl: 0 }));
    let report: unknown;
    const source = timedByRequests(billed.queue);
    const cost = await costOf(async () => (report = await drain(source, () => undefined)));
    expect(report).toEqual(reported({ completed: 100 }));
    expect(cost).toMatchObject({ requests: 3 });
  });

  test("an immediate request for a task that ends during a wait for others", async () => {
    const { id } = await billed.queue.enqueue(1);
    let endedAt = Number.NaN;
    const handler = async () => {
      // By then tasks have gathered for half a second, and the drain waits for more.
      await pause(1_000);
      endedAt = performance.now();
    };
    const drained = drain(billed.queue, handler, { wait: "3s", budget: "20s" });
    const state = async () => (await billed.queue.get(id))?.state;
    await expect.poll(state, { interval: 20, timeout: 10_000 }).toBe("completed");
    // For more tasks it would have waited a second.
    expect(performance.now() - endedAt).toBeLessThan(800);
    expect(await drained).toEqual(reported({ completed: 1 }));
  });

  test("3 requests for 200 tasks at 100 a pull, and 11 if a handler takes ten at once", async () => {
    await billed.queue.enqueueMany(many(200));
    expect(await costOf(() => drain(billed.queue, () => undefined, { batch: 100 }))).toMatchObject({
      requests: 3,
    });
    await billed.queue.enqueueMany(many(100));
    const complete = { outcome: "complete" } as const;
    expect(
      await costOf(() => drainBatches(billed.queue, (tasks) => tasks.map(() => complete))),
    ).toMatchObject({ requests: 11 });
  });

  test("two requests for ten quick tasks of one pull, however many handlers are free", async () => {
    await billed.queue.enqueueMany(many(10));
    const cost = await costOf(() => drain(billed.queue, () => undefined, { concurrency: 50 }));
    expect(cost).toMatchObject({ requests: 2 });
  });

  test("far fewer requests than tasks if handlers end one by one", async () => {
    await billed.queue.enqueueMany(many(60));
    let report = reported();
    const { requests } = await costOf(async () => {
      report = await drain(billed.queue, ({ payload }) => pause(20 + ((payload as number) % 7) * 10));
    });
    expect(report).toEqual(reported({ completed: 60 }));
    expect(requests).toBeLessThan(20);
  });

  test("one request to extend all leases, however many tasks it holds", async () => {
    await billed.queue.enqueueMany(many(40));
    let report = reported();
    const { requests } = await costOf(async () => {
      // Some ten extends of 40 leases, one each third of a second.
      report = await drain(billed.queue, () => pause(3_000), { lease: "1s", batch: 40, concurrency: 40 });
    });
    expect([report, leasedIn(report)]).toEqual([reported({ completed: 40 }), 40]);
    expect(requests).toBeLessThan(20);
  });

  test("a request for each two or three hundred ghosts, and goes on to the tasks behind them", async () => {
    const { queue } = billed;
    const cancelled = [...(await queue.enqueueMany(many(1_000))), ...(await queue.enqueueMany(many(1_000)))];
    await queue.enqueue("behind");
    await abreast(cancelled, ({ id }) => queue.cancel(id));
    let report = reported();
    const { requests } = await costOf(async () => (report = await drain(queue, () => undefined)));
    expect([report, requests]).toEqual([reported({ completed: 1 }), 8]);
  });

  test("one request more if the function's clock is hours ahead and a task is not due yet", async () => {
    await billed.queue.enqueue(1, { delay: "1h" });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 6 * 3_600_000 });
    const cost = await costOf(() => drain(billed.queue, () => undefined)).finally(() => vi.useRealTimers());
    expect(cost).toMatchObject({ requests: 2 });
  });

  test.each<[cost: string, wait: Duration | undefined, pulls: number]>([
    ["ten requests more", undefined, 11],
    ["no request more, having waited,", "1s", 1],
  ])("%s if a queue reports ready tasks each time and gives none", async (_, wait, pulls) => {
    let asked = 0;
    const { queue } = billed;
    const dequeue: TaskSource["dequeue"] = async () =>
      Object.assign([], { nextDueAt: ++asked, paused: false, invalid: 0 });
    const settleAndDequeue = async () => expect.unreachable();
    const source = { name: queue.name, settle: queue.settle, settleAndDequeue, dequeue };
    const report = await drain(source, () => undefined, { wait });
    expect([report, asked]).toEqual([reported({ nextDueAt: pulls }), pulls]);
  });

  test.each([
    ["no request more", "less than a second", 700, 2],
    [
      "one request more, of 6 commands,",
      "longer, beside a free handler, but less than a third of their lease",
      2_500,
      3,
    ],
  ])("%s while tasks run for %s", async (_, __, ms, requests) => {
    await billed.queue.enqueueMany(many(5, { resultTtl: 0 }));
    const cost = await costOf(() => drain(billed.queue, () => pause(ms), { lease: "1m", concurrency: 10 }));
    expect(cost).toEqual({ requests, commands: 8 + 9 + (requests - 2) * 6 });
  });
});
