import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { servedQueue } from "./served.ts";

const { ask, queue, tasks, enqueue, pull, settle, get, counts, receipts } = servedQueue();

describe("enqueue", () => {
  it("answers 201 with the id and the task's location, and 200 for a known id", async () => {
    const first = await enqueue({ payload: 1, id: "one" });
    expect([first.status, first.body]).toEqual([201, { id: "one", created: true }]);
    expect(first.headers.get("location")).toBe("tasks/one");
    expect(first.headers.get("cache-control")).toBe("no-store");
    const again = await enqueue({ payload: 2, id: "one" });
    expect([again.status, again.body]).toEqual([200, { id: "one", created: false }]);
    expect((await pull({ max: 10 })).body.tasks).toMatchObject([{ id: "one", payload: 1 }]);
  });

  it("makes an id if none is given", async () => {
    const { body } = await enqueue({ payload: null });
    expect(body).toEqual({ id: expect.stringMatching(/^[0-9A-Za-z]{1,22}$/), created: true });
  });

  it("takes many tasks in one request, each with options of its own, and says which are new", async () => {
    await enqueue({ payload: 0, id: "b" });
    const { status, body } = await enqueue({
      tasks: [
        { payload: "a", id: "a" },
        { payload: "b", id: "b" },
        { payload: "c", id: "c", delay: "1h" },
      ],
    });
    expect([status, body]).toEqual([
      201,
      {
        tasks: [
          { id: "a", created: true },
          { id: "b", created: false },
          { id: "c", created: true },
        ],
      },
    ]);
    expect((await get("c")).body.state).toBe("delayed");
    expect((await enqueue({ tasks: [{ payload: "a", id: "a" }] })).status).toBe(200);
  });

  it("takes 1,000 tasks and refuses 1,001", async () => {
    const many = (length: number) => ({ tasks: Array.from({ length }, (_, payload) => ({ payload })) });
    expect((await enqueue(many(1_000))).body.tasks).toHaveLength(1_000);
    const { status, body } = await enqueue(many(1_001));
    expect([status, body.errors]).toEqual([
      400,
      [{ path: "tasks", message: "must have at most 1000 tasks" }],
    ]);
    expect((await counts()).pending).toBe(1_000);
  });

  it("gives the same answer to a resend with the same Idempotency-Key, and adds nothing", async () => {
    const key = { "idempotency-key": "order-42" };
    const json = { tasks: [{ payload: 1 }, { payload: 2, id: "mine" }] };
    const first = await enqueue(json, key);
    const again = await enqueue(json, key);
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect((await enqueue(json, { "idempotency-key": "order-43" })).body.tasks[1]).toEqual({
      id: "mine",
      created: false,
    });
    expect((await counts()).pending).toBe(3);
  });

  it("keeps delay, at, lease, maxAttempts and headers", async () => {
    const at = Date.now() + 3_600_000;
    await enqueue({ payload: 1, id: "later", at });
    expect((await get("later")).body).toMatchObject({ state: "delayed", dueAt: at });
    await enqueue({
      payload: 1,
      id: "x",
      lease: "30s",
      maxAttempts: 1,
      headers: { trace: "t", constructor: "c" },
    });
    const [task] = (await pull({ lease: "1h" })).body.tasks;
    expect(task.headers).toEqual({ trace: "t", constructor: "c" });
    expect(task.deadlineAt - Date.now()).toBeLessThanOrEqual(30_000);
    expect((await settle({ receipt: task.receipt, outcome: "requeue" })).body.results[0]).toMatchObject({
      ok: true,
      state: "rejected",
      reason: "attempts_exhausted",
    });
  });
});

describe("pull", () => {
  it("answers 200 with an empty list if no task is pending", async () => {
    const { status, body } = await pull();
    expect([status, body]).toEqual([200, { tasks: [], nextDueAt: null, paused: false }]);
  });

  it("says when to pull again if all tasks are delayed", async () => {
    const at = Date.now() + 60_000;
    await enqueue({ payload: 1, at });
    expect((await pull()).body).toEqual({ tasks: [], nextDueAt: at, paused: false });
  });

  it("gives one task by default and up to max, the oldest first", async () => {
    await enqueue({ tasks: ["a", "b", "c"].map((id) => ({ id, payload: id })) });
    expect((await pull()).body.tasks).toEqual([
      {
        id: "a",
        receipt: expect.any(String),
        payload: "a",
        attempt: 1,
        enqueuedAt: expect.any(Number),
        deadlineAt: expect.any(Number),
        leasedFor: expect.any(Number),
      },
    ]);
    expect((await pull({ max: 100 })).body.tasks.map(({ id }: { id: string }) => id)).toEqual(["b", "c"]);
  });

  it("leaves tasks that do not fit into maxBytes", async () => {
    await enqueue({ tasks: [1, 2, 3].map(() => ({ payload: "x".repeat(1_000) })) });
    expect((await pull({ max: 3, maxBytes: 2_500 })).body.tasks).toHaveLength(2);
  });

  it.each([
    ["token", { token: "q7XnRk2ZtB0aVd9L" }, {}],
    ["Idempotency-Key", {}, { "idempotency-key": "pull-1" }],
  ])("gives a resend with the same %s the same tasks", async (_, json, headers) => {
    await enqueue({ tasks: [{ payload: 1 }, { payload: 2 }] });
    const first = await pull(json, headers);
    const again = await pull(json, headers);
    expect(again.body.tasks).toEqual(first.body.tasks);
    expect(await counts()).toMatchObject({ pending: 1, working: 1 });
  });

  it("without either a resend is a new request", async () => {
    await enqueue({ tasks: [{ payload: 1 }, { payload: 2 }] });
    expect((await pull()).body.tasks[0].payload).toBe(1);
    expect((await pull()).body.tasks[0].payload).toBe(2);
  });
});

describe("settle", () => {
  it("settles mixed outcomes in one request, each with a result of its own", async () => {
    await enqueue({ tasks: ["a", "b", "c", "d", "e"].map((id) => ({ id, payload: id })) });
    const [a, b, c, d, e] = await receipts({ max: 5 });
    await settle({ receipt: e, outcome: "complete" });
    const { status, body } = await settle(
      { receipt: a, outcome: "complete", result: { ok: true } },
      { receipt: b, outcome: "reject", error: "no such address" },
      { receipt: c, outcome: "requeue", delay: "1m", error: { status: 503 } },
      { receipt: d, outcome: "extend", lease: "1h" },
      { receipt: c, outcome: "complete" },
    );
    expect(status).toBe(200);
    expect(body).toEqual({
      results: [
        { receipt: a, ok: true, state: "completed" },
        { receipt: b, ok: true, state: "rejected", reason: "rejected" },
        { receipt: c, ok: true, state: "delayed", dueAt: expect.any(Number) },
        { receipt: d, ok: true, state: "working", deadlineAt: expect.any(Number) },
        { receipt: c, ok: false, code: "lease_lost" },
      ],
    });
    expect((await get("a")).body).toMatchObject({ state: "completed", result: { ok: true } });
    expect((await get("b")).body).toMatchObject({ state: "rejected", error: "no such address" });
    expect((await get("c")).body).toMatchObject({ state: "delayed", error: { status: 503 } });
    expect((await get("d")).body).toMatchObject({ state: "working", deadlineAt: body.results[3].deadlineAt });
  });

  it("brings the next batch along with pull", async () => {
    await enqueue({ tasks: [{ payload: 1 }, { payload: 2 }, { payload: 3 }] });
    const [receipt] = await receipts();
    const settlements = [{ receipt, outcome: "complete" }];
    const { body } = await ask("POST", `${tasks()}/settle`, { json: { settlements, pull: { max: 2 } } });
    expect(body.results).toMatchObject([{ ok: true, state: "completed" }]);
    expect(body.pull.tasks.map(({ payload }: { payload: number }) => payload)).toEqual([2, 3]);
  });

  it("takes no settlements, with and without pull", async () => {
    await enqueue({ payload: 1 });
    expect((await settle()).body).toEqual({ results: [] });
    const { body } = await ask("POST", `${tasks()}/settle`, { json: { settlements: [], pull: {} } });
    expect(body).toMatchObject({ results: [], pull: { tasks: [{ payload: 1 }] } });
  });

  it("requeues without charging the attempt if count is false", async () => {
    await enqueue({ id: "x", payload: 1, maxAttempts: 1 });
    const [receipt] = await receipts();
    await settle({ receipt, outcome: "requeue", count: false });
    expect((await get("x")).body).toMatchObject({ state: "pending", attempt: 1, charged: 0 });
  });
});

describe("a task", () => {
  it("is shown in every state of its life", async () => {
    await enqueue({ id: "x", payload: 1, headers: { trace: "t" } });
    const pending = (await get("x")).body;
    expect(pending).toEqual({
      id: "x",
      errors: [],
      queue: queue(),
      state: "pending",
      attempt: 0,
      charged: 0,
      lease: 0,
      requeues: 0,
      version: 1,
      transitions: [],
      enqueuedAt: expect.any(Number),
      headers: { trace: "t" },
    });
    const [receipt] = await receipts();
    const working = (await get("x")).body;
    expect(working).toMatchObject({ state: "working", attempt: 1, charged: 1, lease: 1 });
    expect(working.version).toBeGreaterThan(pending.version);
    await settle({ receipt, outcome: "complete", result: [1] });
    const completed = (await get("x")).body;
    expect(completed).toMatchObject({ state: "completed", result: [1], endedAt: expect.any(Number) });
    expect(completed.transitions).toEqual([
      { version: 2, to: "working", at: working.dequeuedAt },
      { version: 3, to: "completed", at: completed.endedAt },
    ]);
  });

  it("is shown with the errors of its attempts, alone and in a list", async () => {
    await enqueue({ id: "x", payload: 1 });
    const at: number[] = [];
    const fail = async (settlement: object) => {
      await settle({ receipt: (await receipts())[0], outcome: "requeue", ...settlement });
      at.push((await get("x")).body.requeuedAt);
    };
    await fail({ error: { name: "HttpError", message: "HTTP 503" } });
    await fail({ error: "long; ".repeat(100) });
    await fail({ error: Buffer.from("bytes").toString("base64"), encoding: "base64" });
    await fail({});
    const expected = ["HttpError: HTTP 503", `${"long; ".repeat(34).slice(0, 199)}…`, "5 bytes"].map(
      (error, i) => ({ attempt: i + 1, at: at[i], error }),
    );
    expect((await get("x")).body.errors).toEqual(expected);
    const listed = (await ask("GET", `${tasks()}?state=pending`)).body;
    expect(listed.tasks[0].errors).toEqual(expected);

    await receipts({ lease: 1 });
    await sleep(5);
    await receipts();
    const { errors } = (await get("x")).body;
    expect(errors).toEqual([...expected, { attempt: 5, at: expect.any(Number), error: null }]);
  });

  it("may have an id that has to be percent-encoded", async () => {
    const id = "a/b?c#d%41&;e";
    const { headers } = await enqueue({ id, payload: 1 });
    expect(headers.get("location")).toBe(`tasks/${encodeURIComponent(id)}`);
    expect((await get(id)).body.id).toBe(id);
    expect((await ask("POST", `${tasks()}/${encodeURIComponent(id)}/cancel`)).body).toEqual({
      id,
      state: "rejected",
    });
  });

  it("that waits is cancelled at once, and is no dead letter", async () => {
    await enqueue({ id: "x", payload: 1 });
    const { status, body } = await ask("POST", `${tasks()}/x/cancel`);
    expect([status, body]).toEqual([200, { id: "x", state: "rejected" }]);
    expect((await get("x")).body).toMatchObject({ state: "rejected", reason: "cancelled" });
    expect(await counts()).toMatchObject({ pending: 0, rejected: 0 });
    expect((await pull()).body.tasks).toEqual([]);
  });

  it("that is leased is cancelled at its holder's next call", async () => {
    await enqueue({ id: "x", payload: 1 });
    const [receipt] = await receipts();
    expect((await ask("POST", `${tasks()}/x/cancel`)).body).toEqual({ id: "x", state: "working" });
    expect((await settle({ receipt, outcome: "extend" })).body.results[0]).toMatchObject({
      ok: true,
      cancelRequested: true,
    });
    expect((await settle({ receipt, outcome: "requeue" })).body.results[0]).toMatchObject({
      ok: true,
      state: "rejected",
      reason: "cancelled",
    });
  });

  it("is cancelled under the expected lease only", async () => {
    await enqueue({ id: "x", payload: 1 });
    await pull();
    const cancel = (lease: number) => ask("POST", `${tasks()}/x/cancel`, { json: { lease } });
    const refused = await cancel(7);
    expect([refused.status, refused.body.code]).toEqual([409, "lease_lost"]);
    expect((await cancel((await get("x")).body.lease)).status).toBe(200);
  });
});
