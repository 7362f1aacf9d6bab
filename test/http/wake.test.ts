import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Operator, Queue } from "../../src/index.ts";
import { secrets, serve } from "./served.ts";

// Wakes from the HTTP interface, and a pull that waits.

let served: Awaited<ReturnType<typeof serve>>;
let woken: string[];
let arranged: [kind: string, queue: string, at: number][];
let after: Promise<unknown>[];
beforeAll(async () => {
  served = await serve({
    wake: {
      wake: (queue) => woken.push(queue),
      wakeAt: (queue, at) => arranged.push(["wake", queue, at]),
      sweepAt: (queue, at) => arranged.push(["sweep", queue, at]),
      queues: (queue) => queue !== "sleepers",
      window: "1h",
    },
  });
});
afterAll(() => served.stop());
beforeEach(() => {
  woken = [];
  arranged = [];
  after = [];
});

const post = (path: string, json: object, context?: object, method = "POST") =>
  served.app.request(
    `/v1${path}`,
    {
      method,
      headers: { authorization: `Bearer ${secrets.all}`, "content-type": "application/json" },
      body: JSON.stringify(json),
    },
    {},
    context as never,
  );

describe("the HTTP interface", () => {
  test("wakes the consumer of what is enqueued, once", async () => {
    for (let i = 0; i < 3; i++) expect((await post("/queues/a/tasks", { payload: i })).status).toBe(201);
    expect((await post("/queues/sleepers/tasks", { payload: 1 })).status).toBe(201);
    expect(woken).toEqual(["a"]);
  });

  test("wakes after the response if the platform can", async () => {
    const waitUntil = (promise: Promise<unknown>) => after.push(promise);
    expect((await post("/queues/b/tasks", { payload: 1 }, { waitUntil })).status).toBe(201);
    await Promise.all(after);
    expect([after.length, woken]).toEqual([1, ["b"]]);
  });

  test("wakes the consumers of what a sweep finds", async () => {
    await post("/queues/c/tasks", { payload: 1, delay: 1 });
    expect(woken).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await (await post("/sweep", {})).json()).toMatchObject({ promoted: 1, woken: 1 });
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
    const { transport } = served;
    const queue = new Queue(name, { transport });
    await queue.enqueue(1, { id: "x" });
    await prepare(queue, new Operator(name, { transport }));
    expect((await post(`/queues/${name}/${path}`, body, undefined, method)).status).toBe(200);
    expect(woken).toEqual([name]);
  });

  test("arranges a wake for what is delayed, and a sweep for a schedule", async () => {
    const before = Date.now();
    await post("/queues/later/tasks", { payload: 1, delay: "1m" });
    await post("/queues/later/schedules/x", { every: "1h", payload: 1 }, undefined, "PUT");
    await post("/queues/later/tasks", { payload: 2 });
    const [{ receipt }] = (await (await post("/queues/later/tasks/pull", {})).json()).tasks;
    await post("/queues/later/tasks/settle", {
      settlements: [{ receipt, outcome: "requeue", delay: "2m" }],
    });
    await post("/sweep", {});
    expect(arranged.filter(([, queue]) => queue === "later").map(([kind]) => kind)).toEqual([
      "wake",
      "sweep",
      "wake",
      "wake",
      "sweep",
    ]);
    const [first, , third, fourth] = arranged.filter(([, queue]) => queue === "later");
    expect((first?.[2] ?? 0) - before).toBeGreaterThanOrEqual(60_000);
    expect((third?.[2] ?? 0) - before).toBeGreaterThanOrEqual(120_000);
    expect(Math.abs((fourth?.[2] ?? 0) - (first?.[2] ?? 0))).toBeLessThan(30_000);
  });

  test("wakes no consumer if it has no waker", async () => {
    const { app, transport, stop } = await serve();
    const headers = { authorization: `Bearer ${secrets.all}`, "content-type": "application/json" };
    const body = JSON.stringify({ payload: 1 });
    expect((await app.request("/v1/queues/a/tasks", { method: "POST", headers, body })).status).toBe(201);
    const [field] = await transport.send([["HEXISTS", "sluice:{a}:tasks", "~wake"]]);
    expect(field).toEqual({ reply: 0 });
    await stop();
  });
});

describe("a pull over HTTP", () => {
  test("waits for a task", async () => {
    const waiting = post("/queues/d/tasks/pull", { wait: "20s" });
    await post("/queues/d/tasks", { payload: "came" });
    expect(await (await waiting).json()).toMatchObject({ tasks: [{ payload: "came" }] });
  });

  test("says when the next task is due, if none came in time", async () => {
    await post("/queues/e/tasks", { payload: 1, delay: "1h" });
    const { tasks, nextDueAt } = await (await post("/queues/e/tasks/pull", { wait: 20 })).json();
    expect([tasks, nextDueAt > Date.now() + 3_500_000]).toEqual([[], true]);
  });

  test("waits behind a settle, too", async () => {
    await post("/queues/f/tasks", { payload: 1 });
    const [{ receipt }] = (await (await post("/queues/f/tasks/pull", {})).json()).tasks;
    const settled = post("/queues/f/tasks/settle", {
      settlements: [{ receipt, outcome: "complete" }],
      pull: { wait: "20s" },
    });
    await post("/queues/f/tasks", { payload: 2 });
    expect(await (await settled).json()).toMatchObject({
      results: [{ ok: true }],
      pull: { tasks: [{ payload: 2 }] },
    });
  });

  test("stops waiting once its client has disconnected, and leases nothing", async () => {
    const leaving = new AbortController();
    const request = new Request("http://sluice.test/v1/queues/g/tasks/pull", {
      method: "POST",
      headers: { authorization: `Bearer ${secrets.all}`, "content-type": "application/json" },
      body: JSON.stringify({ wait: "60s" }),
      signal: leaving.signal,
    });
    const answer = served.app.fetch(request);
    await new Promise((resolve) => setTimeout(resolve, 150));
    leaving.abort();
    await answer;
    await post("/queues/g/tasks", { payload: 1 });
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(await (await post("/queues/g/tasks/pull", {})).json()).toMatchObject({ tasks: [{ attempt: 1 }] });
  });
});
