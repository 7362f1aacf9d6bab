// What docs/moving/bullmq.md says of both, by running both.
import { QueueEvents } from "bullmq";
import { defineQueue, type Duration, RetryAfter, type Task } from "sluice-queue";
import { testQueue } from "sluice-queue/testing";
import { describe, expect, test } from "vitest";
import { withDebounce } from "../../../src/features/debounce/index.ts";
import { filesOf, temporaryFolder, write } from "../code.ts";
import { useBull } from "./bull.ts";

const bull = useBull();
const { client, started } = bull;

const fails = () => {
  throw new Error("HTTP 503");
};
const ended = (count: number) =>
  expect.poll(() => bull.jobs.getJobCountByTypes("completed", "failed")).toBe(count);

test("jobs and tasks that have ended are kept as the page says", async () => {
  started(async ({ data }) => (data === "fails" ? fails() : data));
  await bull.jobs.addBulk(["done", "fails"].map((data) => ({ name: "kept", data })));
  await ended(2);
  const count = { count: 1 };
  await bull.jobs.addBulk(
    ["done", "fails"].map((data) => ({
      name: "last",
      data,
      opts: { removeOnComplete: count, removeOnFail: count },
    })),
  );
  await expect
    .poll(() => bull.jobs.getJobs(["completed", "failed"]))
    .toMatchObject([{ name: "last" }, { name: "last" }]);
  const opts = { removeOnComplete: true, removeOnFail: true };
  await bull.jobs.addBulk(["done", "fails"].map((data) => ({ name: "removed", data, opts })));
  await expect.poll(() => bull.jobs.getWaitingCount()).toBe(0);
  await ended(2);

  const kept = testQueue<string>("kept");
  const removed = testQueue(defineQueue<string>("removed", { resultTtl: 0, deadTtl: 0, maxAttempts: 1 }));
  const found: number[][] = [];
  for (const queue of [kept, removed]) {
    for (const payload of ["done", "fails"]) await queue.enqueue(payload, { maxAttempts: 1 });
    await queue.work(({ payload }) => (payload === "fails" ? fails() : payload));
    const results = (await queue.tasks("completed")).filter(({ result }) => result !== undefined);
    found.push([results.length, (await queue.deadLetters()).length]);
  }
  expect(found).toEqual([
    [1, 1],
    [0, 0],
  ]);
  await kept.advance("61m");
  expect(await kept.tasks("completed")).toEqual([]);
  await kept.advance("8d");
  expect(await kept.deadLetters()).toEqual([]);
});

test("clean, drain and obliterate remove what their counterparts do", async () => {
  started(async ({ data }) => (data === "fails" ? fails() : new Promise(() => {})), { concurrency: 9 });
  await bull.jobs.add("job", "fails");
  await ended(1);
  expect(await bull.jobs.clean(0, 10, "failed")).toHaveLength(1);
  await bull.jobs.add("job", "hangs");
  await expect.poll(() => bull.jobs.getActiveCount()).toBe(1);
  await bull.jobs.pause();
  await bull.jobs.add("job", "waits");
  await bull.jobs.drain();
  expect(await bull.jobs.getJobCounts("waiting", "active")).toEqual({ waiting: 0, active: 1 });
  await expect(bull.jobs.obliterate()).rejects.toThrow("active");
  await bull.jobs.obliterate({ force: true });
  expect(await bull.jobs.getJobCountByTypes("active", "failed", "waiting")).toBe(0);

  const { queue, operator, ...here } = testQueue<string>("here");
  await queue.enqueue("fails");
  await (await queue.dequeue())[0]?.reject("no");
  expect(
    await operator.purge({ state: "rejected", endedUntil: Date.now() + 1_000, limit: 10 }),
  ).toMatchObject({
    purged: 1,
  });
  await queue.enqueue("hangs");
  await queue.dequeue();
  await operator.pause();
  await queue.enqueue("waits");
  await operator.purge({ state: "pending" });
  expect(await queue.counts()).toMatchObject({ pending: 0, working: 1 });
  expect(await operator.deleteQueue()).toMatchObject({ ok: false });
  expect(await operator.deleteQueue({ force: true })).toMatchObject({ ok: true });
  expect(here).toBeDefined();
});

test("locks, leases and concurrency have the defaults of the page", async () => {
  const { opts } = started(async () => {});
  expect(opts).toMatchObject({
    lockDuration: 30_000,
    lockRenewTime: 15_000,
    stalledInterval: 30_000,
    maxStalledCount: 1,
    concurrency: 1,
  });
  const here = testQueue<number>("here");
  for (let i = 0; i < 20; i++) await here.enqueue(i);
  const [task] = await here.queue.dequeue();
  expect((task?.deadlineAt ?? 0) - here.now).toBe(300_000);
  let [running, most] = [0, 0];
  await here.work(async () => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
  });
  expect(most).toBe(5);
});

test("a paused queue takes jobs and tasks, and delivers none", async () => {
  await bull.jobs.pause();
  started(async () => {});
  await bull.jobs.add("job", 1);
  expect(await bull.jobs.getJobCounts("waiting", "completed")).toEqual({ waiting: 1, completed: 0 });
  await bull.jobs.resume();
  await ended(1);

  const here = testQueue<number>("here");
  await here.operator.pause();
  await here.enqueue(1);
  expect(await here.work(() => {})).toMatchObject({ completed: 0 });
  await here.operator.resume();
  expect(await here.work(() => {})).toMatchObject({ completed: 1 });
});

test("a job has a backoff of its own, and a task the one of its header", async () => {
  started(async () => fails());
  await bull.jobs.add("job", 1, { attempts: 2, backoff: { type: "fixed", delay: 300_000 } });
  await expect.poll(async () => (await bull.jobs.getDelayed())[0]?.delay).toBe(300_000);

  const here = testQueue<number>("here");
  await here.enqueue(1, { headers: { backoff: "5m" } });
  await here.work(({ headers }: Task<number>) => {
    const error = new Error("HTTP 503");
    throw new RetryAfter(headers?.["backoff"] as Duration, { cause: error });
  });
  expect(await here.tasks()).toMatchObject([{ dueAt: here.now + 300_000, error: { message: "HTTP 503" } }]);
});

test("the last one is kept while one is active, and begins after it, as singletons in strict order do", async () => {
  const begun: unknown[] = [];
  let finish = () => {};
  const worked = new Promise<void>((resolve) => (finish = resolve));
  started(async ({ data }) => (begun.push(data), worked), { concurrency: 9 });
  const deduplication = { id: "sync", keepLastIfActive: true };
  await bull.jobs.add("sync", 1, { deduplication });
  await expect.poll(() => begun).toEqual([1]);
  for (const data of [2, 3]) await bull.jobs.add("sync", data, { deduplication });
  expect(await bull.jobs.getJobCounts("waiting", "active")).toEqual({ waiting: 0, active: 1 });
  finish();
  await expect.poll(() => begun).toEqual([1, 3]);

  const { queue } = testQueue(defineQueue<number>("here", { order: "strict" }));
  const singleton = { key: "sync", while: "unfinished", then: "replace" } as const;
  const enqueue = (payload: number) => withDebounce(queue).enqueue(payload, { group: "sync", singleton });
  await enqueue(1);
  const [first] = await queue.dequeue();
  for (const payload of [2, 3]) await enqueue(payload);
  expect(await queue.dequeue()).toHaveLength(0);
  await first?.complete();
  const next = await queue.dequeue();
  expect(next.map(({ payload }) => payload)).toEqual([3]);
});

test("QueueEvents report a failure after the last attempt only, events of a queue each one", async () => {
  const events = new QueueEvents("emails", { connection: client() });
  bull.atEnd(() => events.close());
  await events.waitUntilReady();
  const theirs: unknown[] = [];
  events.on("progress", ({ data }) => theirs.push(["progress", data]));
  events.on("completed", ({ returnvalue }) => theirs.push(["completed", returnvalue]));
  events.on("failed", ({ failedReason }) => theirs.push(["failed", failedReason]));
  started(async (job) => {
    if (job.data === "fails") return fails();
    await job.updateProgress(40);
    return "sent";
  });
  await bull.jobs.add("job", "works");
  await bull.jobs.add("job", "fails", { attempts: 2 });
  await ended(2);
  const reported = [
    ["progress", 40],
    ["completed", "sent"],
    ["failed", "HTTP 503"],
  ];
  await expect.poll(() => theirs).toEqual(reported);

  const here = testQueue(defineQueue<string>("here", { events: true, maxAttempts: 2, backoff: ["1s"] }));
  const ours: unknown[] = [];
  await here.enqueue("works");
  await here.enqueue("fails");
  const published = await here.queue.events();
  await here.workToEnd(async ({ payload, extend }) => {
    if (payload === "fails") return fails();
    await extend("1m", { progress: 40 });
    return "sent";
  });
  for await (const { event, tasks = [] } of published) {
    for (const { progress, result, error } of tasks) ours.push([event, progress ?? result ?? error]);
    if (event === "rejected") break;
  }
  expect(ours).toEqual([
    ["progress", 40],
    ["completed", "sent"],
    ["requeued", "Error: HTTP 503"],
    ["rejected", "Error: HTTP 503"],
  ]);
});

describe("a thread for each task", async () => {
  const { inThread } = await filesOf("moving")("bullmq-thread.ts");
  const folder = temporaryFolder();
  const run = (code: string, options = {}) => {
    write(folder, "thread.mjs", `import { parentPort, workerData } from "node:worker_threads";\n${code}`);
    const here = testQueue<number>("here");
    return here
      .enqueue(20)
      .then(() => here.work(inThread(new URL(`file://${folder}/thread.mjs`)), options))
      .then(() => here.tasks());
  };

  test("returns its result", async () => {
    expect(await run("parentPort.postMessage(workerData + 1);")).toMatchObject([{ result: 21 }]);
  });

  test.each([
    ["throws", 'throw new TypeError("broken");', "TypeError: broken"],
    ["exits", "process.exit(3);", "Error: exit code 3"],
  ])("fails its task if it %s", async (_, code, error) => {
    expect(await run(code)).toMatchObject([{ state: "delayed", errors: [{ error }] }]);
  });

  test("is ended by the timeout, even in an endless loop", async () => {
    const [task] = await run("for (;;);", { timeout: "100ms" });
    expect(task?.errors[0]?.error).toContain("timeout");
  });
});
