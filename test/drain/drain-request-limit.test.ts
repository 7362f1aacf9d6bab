import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "vitest";
import { onTestFinished, test, vi } from "vitest";
import {
  type BatchHandler,
  databases,
  type DrainOptions,
  type DrainReport,
  type Handler,
  Queue,
  RequestBudget,
  sweep,
  type StoppedError,
  type TaskSource,
  withScaleOut,
} from "../../src/index.ts";
import { drain, drainBatches } from "../../src/drain/drain.ts";
import { flow, flows, withFlows } from "../../src/http/flows/index.ts";
import { startGateway, type Gateway } from "../../src/local/index.ts";
import { upstash } from "../../src/transports/upstash.ts";
import { limitedInvocations } from "../support/limited-invocations.ts";
import { numbered } from "../support/new-tasks.ts";
import { startRedis } from "../support/redis.ts";
import { useRig } from "../support/rig.ts";
import { useSimulatedTime } from "../support/simulated-time.ts";
import { pause, reported, reportedWithMore, stoppedError, stopOf } from "./draining.ts";

// Each drain is an invocation of a function that may send a limited number of requests, handlers included.

const rig = useRig();
let gateway: Gateway;
/** A new name for each test, because an instance remembers which queues have partitions. */
let name: string;
let tests = 0;

beforeAll(async () => {
  gateway = await startGateway({ redisUrl: rig.redis.url });
});
beforeEach(() => void (name = `emails-${++tests}`));
afterEach(() => void vi.restoreAllMocks());
afterAll(() => gateway.close());

/** Over HTTP, as in a new instance of the function. */
const queue = (options: { readonly partitions?: number | undefined } = {}) =>
  new Queue<number>(name, {
    transport: upstash({ url: gateway.url, token: gateway.token }, { retry: { firstWait: 1 } }),
    ...options,
  });

const ids = (count: number) => numbered(count).map(({ id }) => id);
const empty = { pending: 0, working: 0, delayed: 0, rejected: 0, paused: false };

/** Drains until nothing is left, each time in a new invocation. */
async function drainAll(
  its: ReturnType<typeof limitedInvocations>,
  drainOnce: () => Promise<DrainReport>,
): Promise<DrainReport[]> {
  const reports: DrainReport[] = [];
  do {
    its.begin();
    reports.push(await drainOnce());
    expect(reports.length).toBeLessThan(200);
  } while (reports.at(-1)?.nextDueAt !== null);
  return reports;
}

/** Expects that these mails were sent, by invocations within the limit, and that nothing is left in the queue. */
async function expectSent(
  its: ReturnType<typeof limitedInvocations>,
  limit: number,
  mails: readonly string[],
  left?: Queue<number>,
) {
  its.end();
  expect(its.mails.toSorted()).toEqual(mails.toSorted());
  expect(Math.max(...its.sent)).toBeLessThanOrEqual(limit);
  expect(await (left ?? queue()).counts()).toMatchObject(empty);
}

describe.each([10, 50])("of %i requests", (limit) => {
  test.each<[string, { drops?: number; flush?: true; partitions?: number }]>([
    ["without faults", {}],
    ["with lost replies", { drops: 7 }],
    ["with Redis without scripts", { flush: true }],
    ["with lost replies and without scripts", { drops: 9, flush: true }],
    ["with 4 partitions", { partitions: 4 }],
    ["with 4 partitions, lost replies and without scripts", { partitions: 4, drops: 9, flush: true }],
  ])("%s, every mail is sent once, and nothing is left", async (_, { drops, flush, partitions }) => {
    await queue({ partitions }).enqueueMany(numbered(60));
    const its = limitedInvocations(limit, { drops });
    const reports = await drainAll(its, async () => {
      if (flush) await rig.command("SCRIPT", "FLUSH");
      return drain(queue(), ({ id }) => its.mail(id), { requests: limit, concurrency: 5 });
    });
    await expectSent(its, limit, ids(60));
    const total = (name: "completed" | "requeued" | "lost") =>
      reports.reduce((sum, report) => sum + report[name], 0);
    expect([total("completed"), total("requeued"), total("lost")]).toEqual([60, 0, 0]);
    expect(new Set(reports.map(({ ended }) => ended))).toEqual(new Set(["requests", "empty"]));
  });
});

test("of the fewest requests, each drain works on one task", async () => {
  await queue().enqueueMany(numbered(4));
  const its = limitedInvocations(7);
  const reports = await drainAll(its, () => drain(queue(), ({ id }) => its.mail(id), { requests: 7 }));
  expect(reports.map(({ completed }) => completed)).toEqual([1, 1, 1, 1, 0]);
  await expectSent(its, 7, ids(4));
});

test("of tasks that others wait for, the notices count too, and a sweep sends those that are too many", async () => {
  const next = new Queue<number>(`${name}-next`, { transport: rig.transport });
  const items = numbered(12).map(({ id, payload }) => ({ id, payload }));
  await flow(
    items.flatMap(({ id, payload }) => [
      { ref: id, queue: queue(), payload },
      { ref: `${id}-next`, queue: next, payload, after: id },
    ]),
    { id: "f" },
  );
  const its = limitedInvocations(10);
  await drainAll(its, () =>
    drain(withFlows(queue()), ({ id }) => its.mail(id), { requests: 10, concurrency: 5 }),
  );
  its.end();
  expect(its.mails).toHaveLength(12);
  expect(Math.max(...its.sent)).toBeLessThanOrEqual(10);
  await sweep(rig.transport, { also: [flows] });
  expect(await next.counts()).toMatchObject({ pending: 12, blocked: 0 });
});

describe("while time passes", () => {
  const time = useSimulatedTime();
  const clocked = () => {
    const { url, token } = gateway;
    return new Queue<number>(name, { transport: time.through(upstash({ url, token })), now: () => time.now });
  };

  test("handlers that outlast their leases are extended, and every mail is sent once", async () => {
    await clocked().enqueueMany(numbered(20));
    const its = limitedInvocations(50);
    const handler: Handler<number> = async ({ id, signal }) => {
      await pause(1_000);
      await its.mail(id, signal);
    };
    await drainAll(its, () => drain(clocked(), handler, { requests: 50, lease: "600ms" }));
    await expectSent(its, 50, ids(20), clocked());
  });

  test("a handler that needs more extends than are left is stopped while it has its lease", async () => {
    await clocked().enqueueMany(numbered(2));
    const its = limitedInvocations(10);
    its.begin();
    const stops: unknown[] = [];
    const handler: Handler<number> = async (task) => {
      const stopped = (await stopOf(task)) as StoppedError;
      stops.push([stopped.code, (await clocked().get(task.id))?.state]);
      throw stopped;
    };
    // An extend each third of a second: two or three can be sent.
    const report = await drain(clocked(), handler, { requests: 10, lease: "1s", backoff: ["1h"] });
    its.end();
    expect(report).toEqual(reportedWithMore({ requeued: 2, ended: "requests" }));
    expect(stops).toEqual([
      ["requests", "working"],
      ["requests", "working"],
    ]);
    expect(await clocked().get("t0")).toMatchObject({ state: "delayed", error: stoppedError("requests") });
    expect(await clocked().counts()).toMatchObject({ ...empty, delayed: 2 });
  });
});

test("a wait for tasks leaves enough requests for those that come", async () => {
  const its = limitedInvocations(20);
  its.begin();
  const waiting = drain(queue(), ({ id }) => its.mail(id), { requests: 20, wait: "1m", budget: "1m" });
  await expect.poll(() => its.sent[0]).toBeGreaterThan(4);
  // Over TCP, so that it is no request of the invocation.
  await new Queue<number>(name, { transport: rig.transport }).enqueue(1, { id: "late" });
  expect(await waiting).toMatchObject({ completed: 1, handedBack: 0 });
  await expectSent(its, 20, ["late"]);
});

describe("a limit that is too small", () => {
  test.each([
    [
      { requests: 3 },
      "requests must be at least 7: 3 for a dequeue, 1 for a task, and 3 for the last settle",
    ],
    [{ requests: 9, requestsPerTask: 4 }, "requests must be at least 10: 3 for a dequeue, 4 for a task"],
    [{ requests: 0 }, "requests must be a whole number from 1 to"],
    [{ requests: 7.5 }, "requests must be a whole number from 1 to"],
    [{ requestsPerTask: 0.5 }, "requestsPerTask must be a whole number from 0 to 1000"],
    [{ requestsPerTask: -1 }, "requestsPerTask must be a whole number from 0 to 1000"],
  ])("%j is refused at once", async (options, message) => {
    const source = queue();
    await expect(drain(source, () => expect.unreachable(), options as DrainOptions)).rejects.toThrow(message);
  });

  test("of a shared budget sends nothing", async () => {
    await queue().enqueue(1);
    const its = limitedInvocations(50);
    its.begin();
    const requests = new RequestBudget(50);
    requests.use(47);
    const report = await drain(queue(), () => expect.unreachable(), { requests });
    its.end();
    expect([report, its.sent]).toEqual([reportedWithMore({ ended: "requests" }), [0]]);
    expect([requests.left, requests.free]).toEqual([3, 3]);
    expect(await queue().counts()).toMatchObject({ ...empty, pending: 1 });
  });
});

test("several drains of an invocation share a budget", async () => {
  const queues = ["one", "two", "three"].map((own) => () => {
    const transport = upstash({ url: gateway.url, token: gateway.token });
    return new Queue<number>(`${name}-${own}`, { transport });
  });
  for (const open of queues) await open().enqueueMany(numbered(40));
  const its = limitedInvocations(50);
  let rounds = 0;
  let reports: DrainReport[];
  do {
    its.begin();
    const requests = new RequestBudget(50);
    reports = await Promise.all(
      queues.map((open, i) => drain(open(), ({ id }) => its.mail(`${i} ${id}`), { requests })),
    );
  } while (reports.some(({ nextDueAt }) => nextDueAt !== null) && ++rounds < 50);
  const mails = queues.flatMap((_, i) => ids(40).map((id) => `${i} ${id}`));
  for (const open of queues) await expectSent(its, 50, mails, open());
});

test.each([Infinity, 9])(
  "over two databases each counts (one of %d requests loses its reply)",
  async (drops) => {
    const second = await startRedis();
    const other = await startGateway({ redisUrl: second.url });
    onTestFinished(async () => {
      await other.close();
      await second.stop();
    });
    const open = () => {
      const retry = { firstWait: 1 };
      const both = [gateway, other].map(({ url, token }) => upstash({ url, token }, { retry }));
      return new Queue<number>(name, { transport: databases(both), partitions: 4 });
    };
    await open().enqueueMany(numbered(60));
    const its = limitedInvocations(25, { drops });
    await drainAll(its, () => drain(open(), ({ id }) => its.mail(id), { requests: 25 }));
    await expectSent(its, 25, ids(60), open());
  },
);

test("what a handler sends is what requestsPerTask says, its extends included", async () => {
  await queue().enqueueMany(numbered(60));
  const its = limitedInvocations(50);
  const handler: Handler<number> = async ({ id, extend }) => {
    await its.mail(id);
    await extend("1m");
    await its.mail(id);
  };
  await drainAll(its, () => drain(queue(), handler, { requests: 50, requestsPerTask: 3 }));
  await expectSent(its, 50, [...ids(60), ...ids(60)]);
});

test("a batch handler sends as many for each task", async () => {
  await queue().enqueueMany(numbered(60));
  const its = limitedInvocations(20);
  const handler: BatchHandler<number> = async (tasks) => {
    for (const { id } of tasks) await its.mail(id);
    return tasks.map(() => ({ outcome: "complete" }));
  };
  await drainAll(its, () => drainBatches(queue(), handler, { requests: 20 }));
  await expectSent(its, 20, ids(60));
});

test("handlers that send nothing leave all requests to the drain", async () => {
  await queue().enqueueMany(numbered(500));
  const its = limitedInvocations(50);
  its.begin();
  const report = await drain(queue(), () => undefined, { requests: 50, requestsPerTask: 0 });
  expect(report).toEqual(reported({ completed: 500 }));
});

describe("a source", () => {
  const complete = async (settlements: readonly unknown[]) =>
    settlements.map(() => ({ ok: true as const, state: "completed" as const }));

  test("that reports no requests counts one for each call", async () => {
    const requests = new RequestBudget(10);
    const none = async () => Object.assign([], { nextDueAt: null, paused: false, invalid: 0 });
    const settleAndDequeue = async () => expect.unreachable();
    const source = { name, dequeue: none, settle: complete as Queue["settle"], settleAndDequeue };
    expect(await drain(source, () => undefined, { requests })).toEqual(reported());
    expect([requests.left, requests.free]).toEqual([9, 9]);
  });

  test.each<[string, (source: Queue<number>) => TaskSource<number>]>([
    ["of a queue", (source) => source],
    ["with scale-out", (source) => withScaleOut(source)],
  ])("%s counts each copy of a request", async (_, make) => {
    await queue().enqueueMany(numbered(3));
    await rig.command("SCRIPT", "FLUSH");
    const its = limitedInvocations(50, { drops: 2 });
    its.begin();
    const requests = new RequestBudget(50);
    const report = await drain(make(queue()), () => undefined, { requests, requestsPerTask: 0 });
    its.end();
    expect(report).toEqual(reported({ completed: 3 }));
    expect(requests.left).toBe(50 - (its.sent[0] ?? 0));
    expect(its.sent[0]).toBeGreaterThan(2);
  });
});
