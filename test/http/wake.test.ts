import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { secrets, serve } from "./served.ts";

// Wakes from the HTTP interface, and a pull that waits.

let served: Awaited<ReturnType<typeof serve>>;
let woken: string[];
let after: Promise<unknown>[];
beforeAll(async () => {
  served = await serve({
    wake: { wake: (queue) => woken.push(queue), queues: (queue) => queue !== "sleepers", window: "1h" },
  });
});
afterAll(() => served.stop());
beforeEach(() => {
  woken = [];
  after = [];
});

const post = (path: string, json: object, context?: object) =>
  served.app.request(
    `/v1${path}`,
    {
      method: "POST",
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
