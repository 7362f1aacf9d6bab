import { operations } from "../../src/http/operations/index.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createApp } from "../../src/http/app.ts";
import { Operator, Queue } from "../../src/index.ts";
import { queueKeys } from "../../src/kernel/names/keys.ts";
import type { Transport } from "../../src/kernel/transport.ts";
import { useSimulatedTime } from "../support/simulated-time.ts";
import { secrets, serve, tokens } from "./served.ts";

// Wakes from the HTTP interface, and a pull that waits.

let served: Awaited<ReturnType<typeof serve>>;
let app: ReturnType<typeof createApp>;
let woken: string[];
let arranged: [kind: string, queue: string, at: number][];
let transport: Transport;
const time = useSimulatedTime();
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.stop());
beforeEach(() => {
  woken = [];
  arranged = [];
  transport = time.through(served.transport);
  app = createApp({
    operations,
    transport,
    tokens,
    wake: {
      wake: (queue) => woken.push(queue),
      wakeAt: (queue, at) => arranged.push(["wake", queue, at]),
      sweepAt: (queue, at) => arranged.push(["sweep", queue, at]),
      queues: (queue) => queue !== "sleepers",
      window: "1h",
    },
  });
});

const post = (path: string, json: object, { method = "POST", signal }: RequestInit = {}) => {
  const headers = { authorization: `Bearer ${secrets.all}`, "content-type": "application/json" };
  const init = { method, headers, body: JSON.stringify(json), ...(signal && { signal }) };
  return new Request(`http://sluice.test/v1${path}`, init);
};
const ask = async (...given: Parameters<typeof post>) => (await app.fetch(post(...given))).json();
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("the HTTP interface", () => {
  test("wakes the consumer of what is enqueued, once", async () => {
    for (const queue of ["a", "a", "a", "sleepers"]) await ask(`/queues/${queue}/tasks`, { payload: 1 });
    expect(woken).toEqual(["a"]);
  });

  test("wakes after the response if the platform can", async () => {
    const after: Promise<unknown>[] = [];
    const context = { waitUntil: (promise: Promise<unknown>) => after.push(promise) };
    const { status } = await app.fetch(post("/queues/b/tasks", { payload: 1 }), {}, context as never);
    await Promise.all(after);
    expect([status, after.length, woken]).toEqual([201, 1, ["b"]]);
  });

  test("wakes the consumers of what a sweep finds", async () => {
    await ask("/queues/c/tasks", { id: "x", payload: 1, delay: "1h" });
    expect(woken).toEqual([]);
    await transport.send([["ZADD", queueKeys("c").delayed, "0", "x"]]);
    expect(await ask("/sweep", {})).toMatchObject({ promoted: 1, woken: 1 });
    expect(woken).toEqual(["c"]);
  });

  const reject = async (queue: Queue) => (await queue.dequeue())[0]?.reject("no");
  test.each<[string, string, object, string, (queue: Queue, operator: Operator) => Promise<unknown>]>([
    ["a redrive", "redrive", { ids: ["x"] }, "POST", reject],
    ["a failed worker", "workers/w/fail", {}, "POST", (queue) => queue.dequeue({ worker: { name: "w" } })],
    ["a resume", "resume", {}, "POST", (_, operator) => operator.pause()],
    ["a loosened limit", "settings", { maxWorking: 9 }, "PATCH", async () => {}],
    ["a loosened limit of a group", "groups/g", { maxWorking: 9 }, "PATCH", async () => {}],
  ])("wakes the consumer after %s", async (what, path, body, method, prepare) => {
    const name = what.replaceAll(" ", "-");
    const queue = new Queue(name, { transport });
    await queue.enqueue(1, { id: "x" });
    await prepare(queue, new Operator(name, { transport }));
    await ask(`/queues/${name}/${path}`, body, { method });
    expect(woken).toEqual([name]);
  });

  test("arranges a wake for what is delayed, and a sweep for a schedule", async () => {
    await ask("/queues/later/tasks", { id: "first", payload: 1, delay: "1m" });
    await ask("/queues/later/schedules/x", { every: "1h", payload: 1 }, { method: "PUT" });
    await ask("/queues/later/tasks", { id: "second", payload: 2 });
    const [{ receipt }] = (await ask("/queues/later/tasks/pull", {})).tasks;
    const settlements = [{ receipt, outcome: "requeue", delay: "2m" }];
    await ask("/queues/later/tasks/settle", { settlements });
    await ask("/sweep", {});
    const queue = new Queue("later", { transport });
    // Of a task that is added it is known by this clock, of others by that of Redis.
    const dueAt = [time.now + 60_000, (await queue.get("second"))?.dueAt, (await queue.get("first"))?.dueAt];
    const [added, requeued, found] = dueAt.map((at) => ["wake", "later", at]);
    const sweep = ["sweep", "later", expect.any(Number)];
    const ofQueue = arranged.filter(([, name]) => name === "later");
    expect(ofQueue).toEqual([added, sweep, requeued, found, sweep]);
  });

  test("wakes no consumer if it has no waker", async () => {
    app = createApp({ operations, transport, tokens });
    await ask("/queues/silent/tasks", { payload: 1 });
    const [field] = await transport.send([["HEXISTS", queueKeys("silent").tasks, "~wake"]]);
    expect(field).toEqual({ reply: 0 });
  });
});

describe("a pull over HTTP", () => {
  test("says when the next task is due, if none came in time", async () => {
    await ask("/queues/e/tasks", { id: "x", payload: 1, delay: "1h" });
    const begin = time.now;
    const pulled = await ask("/queues/e/tasks/pull", { wait: "20s" });
    const due = await new Queue("e", { transport }).get("x");
    expect([pulled, time.now - begin]).toMatchObject([{ tasks: [], nextDueAt: due?.dueAt }, 20_000]);
  });

  test("waits behind a settle, too", async () => {
    await ask("/queues/f/tasks", { payload: 1 });
    const [{ receipt }] = (await ask("/queues/f/tasks/pull", {})).tasks;
    const settlements = [{ receipt, outcome: "complete" }];
    const settled = ask("/queues/f/tasks/settle", { settlements, pull: { wait: "20s" } });
    await pause(5_000);
    await ask("/queues/f/tasks", { payload: 2 });
    expect(await settled).toMatchObject({ results: [{ ok: true }], pull: { tasks: [{ payload: 2 }] } });
  });

  test("stops waiting once its client has disconnected, and leases nothing", async () => {
    const begin = time.now;
    const leaving = new AbortController();
    const pull = { wait: "60s", token: "token-0123" };
    const waiting = app.fetch(post("/queues/g/tasks/pull", pull, { signal: leaving.signal }));
    await pause(5_000);
    leaving.abort();
    await waiting;
    expect(time.now - begin).toBeLessThan(10_000);
    await ask("/queues/g/tasks", { payload: 1 });
    await pause(60_000);
    expect(await ask("/queues/g/tasks/pull", {})).toMatchObject({ tasks: [{ attempt: 1 }] });
  });
});
