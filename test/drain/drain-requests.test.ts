import { beforeEach, describe, expect, test } from "vitest";
import { type Duration, Queue } from "../../src/index.ts";
import { drain, drainBatches } from "../../src/drain/drain.ts";
import type { TaskSource } from "../../src/drain/source.ts";
import type { DrainOptions, DrainReport, Handler } from "../../src/drain/types.ts";
import { abreast } from "../support/abreast.ts";
import { useBilled } from "../support/billed.ts";
import { many } from "../support/new-tasks.ts";
import { START } from "../support/rig.ts";
import { useSimulatedTime } from "../support/simulated-time.ts";
import { pause, reported } from "./draining.ts";

// Requests, and commands as Upstash bills them.

const billed = useBilled();
const time = useSimulatedTime();
let queue: Queue;
beforeEach(() => {
  queue = new Queue(billed.queue.name, { transport: time.through(billed.queue["transport"]) });
});

const quick = () => undefined;
const add = (count: number) => queue.enqueueMany(many(count, { resultTtl: 0 }));

async function costOf(run: () => Promise<DrainReport>) {
  billed.gateway.resetUsage();
  const report = await run();
  const { requests, commands } = billed.gateway.usage();
  return { report, requests, commands };
}

const drained = (handler: Handler, options: DrainOptions = {}) =>
  costOf(() => drain(queue, handler, options));

describe("a drain costs", () => {
  // A pull that finds too few takes 8 commands; a settle with a pull that finds nothing 9.
  const short = { lease: "1m", concurrency: 10 } as const;
  test.each<[string, number, Handler, DrainOptions, requests: number, commands: number]>([
    ["5 commands in one request for an empty queue", 0, quick, {}, 1, 5],
    ["two requests for a lone task", 1, quick, {}, 2, 8 + 9],
    ["two for ten quick tasks, however many handlers are free", 10, quick, { concurrency: 50 }, 2, 8 + 9],
    ["11 requests for 100 quick tasks at 10 a pull", 100, quick, { batch: 10 }, 11, 6 + 9 * 8 + 9],
    ["3 requests for 200 tasks at 100 a pull", 200, quick, { batch: 100 }, 3, 7 + 9 + 9],
    ["no request more while tasks run for less than a second", 5, () => pause(700), short, 2, 8 + 9],
    ["one more, of 6 commands, while they run for longer", 5, () => pause(2_500), short, 3, 8 + 9 + 6],
  ])("%s", async (_, tasks, handler, options, requests, commands) => {
    if (tasks > 0) await add(tasks);
    const report = reported({ completed: tasks });
    expect(await drained(handler, options)).toEqual({ report, requests, commands });
  });

  test("3 requests for 100 quick tasks with an unlimited batch: it pulls 10, then all", async () => {
    await add(100);
    time.roundTrip = 5;
    expect(await drained(quick)).toMatchObject({ report: reported({ completed: 100 }), requests: 3 });
  });

  test("11 requests for 100 tasks if a handler takes ten at once", async () => {
    await add(100);
    const complete = { outcome: "complete" } as const;
    const cost = await costOf(() => drainBatches(queue, (tasks) => tasks.map(() => complete)));
    expect(cost).toMatchObject({ report: reported({ completed: 100 }), requests: 11 });
  });

  test("an immediate request for a task that ends during a wait for others", async () => {
    const { id } = await queue.enqueue(1);
    let settledAt = Number.NaN;
    // When it ends, tasks have gathered for half a second, and the drain waits for more.
    const drained = drain(queue, () => pause(1_000), { wait: "3s" });
    for (let state; state !== "completed"; state = (await queue.get(id))?.state) {
      await pause(10);
      settledAt = time.now - START;
    }
    expect(settledAt).toBeLessThan(1_100);
    expect(await drained).toEqual(reported({ completed: 1 }));
  });

  test("far fewer requests than tasks if handlers end one by one", async () => {
    await queue.enqueueMany(many(60));
    const cost = await drained(({ payload }) => pause(20 + ((payload as number) % 7) * 10));
    expect(cost).toMatchObject({ report: reported({ completed: 60 }), requests: 8 });
  });

  test("one request to extend all leases, however many tasks it holds", async () => {
    await add(40);
    // An extend of 40 leases each third of a second, and an early one with the pull after a second.
    const cost = await drained(() => pause(3_000), { lease: "1s", batch: 40, concurrency: 40 });
    expect(cost).toMatchObject({ report: reported({ completed: 40 }), requests: 10 });
  });

  test("a request for each two or three hundred ghosts, and goes on to the tasks behind them", async () => {
    const cancelled = [...(await queue.enqueueMany(many(1_000))), ...(await queue.enqueueMany(many(1_000)))];
    await queue.enqueue("behind");
    await abreast(cancelled, ({ id }) => queue.cancel(id));
    expect(await drained(quick)).toMatchObject({ report: reported({ completed: 1 }), requests: 8 });
  });

  test("one request more if the function's clock is hours ahead and a task is not due yet", async () => {
    // Redis has its own time here, years after that of this process.
    await queue.enqueue(1, { delay: "1h" });
    time.now = 4_000_000_000_000;
    expect(await drained(quick)).toMatchObject({ requests: 2 });
  });

  test.each<[cost: string, wait: Duration | undefined, pulls: number]>([
    ["ten requests more", undefined, 11],
    ["no request more, having waited,", "1s", 1],
  ])("%s if a queue reports ready tasks each time and gives none", async (_, wait, pulls) => {
    let asked = 0;
    const dequeue: TaskSource["dequeue"] = async () =>
      Object.assign([], { nextDueAt: ++asked, paused: false, invalid: 0 });
    const settleAndDequeue = async () => expect.unreachable();
    const source = { name: queue.name, settle: queue.settle, settleAndDequeue, dequeue };
    const report = await drain(source, quick, { wait });
    expect([report, asked]).toEqual([reported({ nextDueAt: pulls }), pulls]);
  });
});
