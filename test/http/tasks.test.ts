import { describe, expect, it } from "vitest";
import { queueSpace, readKeySpace } from "../support/key-space.ts";
import { expectProblem, servedQueue } from "./served.ts";

// What a task's requests and answers have beside what the library takes and returns: test/model calls over HTTP too.

const { ask, queue, redis, tasks, enqueue, pull, settle, get, counts, receipts } = servedQueue();

describe("enqueue", () => {
  it("answers 201 with the id and the task's location, and 200 for a known id, a known dedup key or a unique id", async () => {
    const first = await enqueue({ payload: 1, id: "one", unique: "24h", headers: { trace: "t" } });
    expect([first.status, first.body]).toEqual([201, { id: "one", created: true }]);
    expect(first.headers.get("location")).toBe("tasks/one");
    expect(first.headers.get("cache-control")).toBe("no-store");
    const again = await enqueue({ payload: 2, id: "one" });
    expect([again.status, again.body]).toEqual([200, { id: "one", created: false }]);
    expect((await pull({ max: 10 })).body.tasks).toMatchObject([{ id: "one", payload: 1 }]);

    const dedup = { key: "report-7", window: "1h" };
    const { body } = await enqueue({ payload: 1, dedup });
    expect(body).toEqual({ id: expect.stringMatching(/^[0-9A-Za-z]{1,22}$/), created: true });
    const same = await enqueue({ payload: 2, dedup, id: "mine" });
    expect([same.status, same.body]).toEqual([200, { id: body.id, created: false }]);
    expect(same.headers.get("location")).toBe(`tasks/${body.id}`);
    const { tasks: fields } = queueSpace(await readKeySpace(redis().url), queue());
    expect(fields.get(".one")).toContain(";U=86400000;");
  });

  it("takes many tasks in one request, each with options of its own, and says which are new", async () => {
    await enqueue({ payload: 0, id: "b" });
    const at = Date.now() + 3_600_000;
    const { status, body } = await enqueue({
      tasks: [
        { payload: "a", id: "a" },
        { payload: "b", id: "b" },
        { payload: "c", id: "c", at, headers: { trace: "t", constructor: "c" } },
      ],
    });
    const created = { a: true, b: false, c: true };
    const added = Object.entries(created).map(([id, isNew]) => ({ id, created: isNew }));
    expect([status, body]).toEqual([201, { tasks: added }]);
    const headers = { trace: "t", constructor: "c" };
    expect((await get("c")).body).toMatchObject({ state: "delayed", dueAt: at, headers });
    expect((await enqueue({ tasks: [{ payload: "a", id: "a" }] })).status).toBe(200);
  });

  it("takes 1,000 tasks and refuses 1,001", async () => {
    const many = (length: number) => ({ tasks: Array.from({ length }, (_, payload) => ({ payload })) });
    expect((await enqueue(many(1_000))).body.tasks).toHaveLength(1_000);
    const { errors } = expectProblem(await enqueue(many(1_001)), "invalid_request");
    expect(errors).toEqual([{ path: "tasks", message: "must have at most 1000 tasks" }]);
    expect((await counts()).pending).toBe(1_000);
  });

  it("gives the same answer to a resend with the same Idempotency-Key, and adds nothing", async () => {
    const key = { "idempotency-key": "order-42" };
    const json = { tasks: [{ payload: 1 }, { payload: 2, id: "mine" }] };
    const first = await enqueue(json, key);
    const again = await enqueue(json, key);
    expect([again.status, again.body]).toEqual([201, first.body]);
    const other = await enqueue(json, { "idempotency-key": "order-43" });
    expect(other.body.tasks[1]).toEqual({ id: "mine", created: false });
    expect((await counts()).pending).toBe(3);
  });
});

describe("pull", () => {
  it("gives one task by default, the oldest, and says when to pull again if none is left", async () => {
    const at = Date.now() + 20_000;
    const group = "b;%";
    await enqueue({
      tasks: [
        { id: "a", payload: "a" },
        { id: "b", payload: "b", group, lease: "30s" },
        { payload: 1, at },
      ],
    });
    const leased = {
      receipt: expect.any(String),
      attempt: 1,
      enqueuedAt: expect.any(Number),
      deadlineAt: expect.any(Number),
    };
    const [a, b] = [
      { id: "a", payload: "a" },
      { id: "b", payload: "b", group },
    ];
    expect((await pull({ lease: "1h" })).body.tasks).toEqual([{ ...a, ...leased, leasedFor: 3_600_000 }]);
    expect((await pull({ lease: "1h" })).body.tasks).toEqual([{ ...b, ...leased, leasedFor: 30_000 }]);
    const { status, body } = await pull({ worker: { name: "w" } });
    expect([status, body]).toEqual([200, { tasks: [], nextDueAt: at, paused: false }]);
    expect(await counts()).toMatchObject({ working: 2, workers: 1 });
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
  it("settles mixed outcomes in one request, each with a result of its own, and brings the next batch along with pull", async () => {
    await enqueue({ tasks: ["a", "b", "c", "d", "e"].map((id) => ({ id, payload: id, resultTtl: "1h" })) });
    const [a, b, c, d] = await receipts({ max: 4 });
    const settlements = [
      { receipt: a, outcome: "complete", result: { ok: true } },
      { receipt: b, outcome: "reject", error: "no such address", ttl: 0 },
      { receipt: c, outcome: "requeue", delay: "1m", error: { status: 503 } },
      { receipt: d, outcome: "extend", lease: "1h", progress: { sent: 40, of: "80;" } },
      { receipt: c, outcome: "complete" },
    ];
    const json = { settlements, pull: { worker: { name: "w" } } };
    const { status, body } = await ask("POST", `${tasks()}/settle`, { json });
    const [dueAt, deadlineAt] = [body.results[2].dueAt, body.results[3].deadlineAt];
    expect([status, body.results]).toEqual([
      200,
      [
        { receipt: a, ok: true, state: "completed" },
        { receipt: b, ok: true, state: "rejected", reason: "rejected" },
        { receipt: c, ok: true, state: "delayed", dueAt },
        { receipt: d, ok: true, state: "working", deadlineAt },
        { receipt: c, ok: false, code: "lease_lost" },
      ],
    ]);
    expect(body.pull).toMatchObject({ tasks: [{ id: "e" }], paused: false });
    expect((await get("a")).body).toMatchObject({ state: "completed", result: { ok: true } });
    expect((await get("c")).body).toMatchObject({ state: "delayed", error: { status: 503 }, dueAt });
    const progress = { sent: 40, of: "80;" };
    expect((await get("d")).body).toMatchObject({ state: "working", deadlineAt, progress });
    expect((await get("e")).body.worker).toEqual({ name: "w" });
    expect((await counts()).rejected).toBe(0);
  });

  it("takes no settlements, with and without pull", async () => {
    await enqueue({ payload: 1 });
    expect((await settle()).body).toEqual({ results: [] });
    const { body } = await ask("POST", `${tasks()}/settle`, { json: { settlements: [], pull: {} } });
    expect(body).toMatchObject({ results: [], pull: { tasks: [{ payload: 1 }] } });
  });

  it("requeues with a backoff by the charged attempts: a list, or a random delay between half of a bound and the whole", async () => {
    await enqueue({ id: "x", payload: 1 });
    await settle({ receipt: (await receipts())[0], outcome: "requeue", unstarted: true });
    await settle({ receipt: (await receipts())[0], outcome: "requeue", count: false });
    const [receipt] = await receipts();
    const { body } = await settle({ receipt, outcome: "requeue", backoff: ["1h", "2h", "3h"] });
    const { requeuedAt, dueAt, attempt, charged } = (await get("x")).body;
    expect(body.results).toEqual([{ receipt, ok: true, state: "delayed", dueAt }]);
    expect([dueAt - requeuedAt, attempt, charged]).toEqual([3_600_000, 3, 1]);
    for (const [id, backoff, most] of [
      ["y", true, 10_000],
      ["z", { base: "1d", most: "1h" }, 3_600_000],
    ] as const) {
      await enqueue({ id, payload: 1 });
      await settle({ receipt: (await receipts())[0], outcome: "requeue", backoff });
      const task = (await get(id)).body;
      expect(task.dueAt - task.requeuedAt).toBeGreaterThanOrEqual(most / 2);
      expect(task.dueAt - task.requeuedAt).toBeLessThanOrEqual(most);
    }
  });
});

describe("a task", () => {
  it("is shown with its payload and options only if asked, while it is kept", async () => {
    const json = { id: "json", payload: { to: "a" }, maxAttempts: 3, lease: "1m", headers: { trace: "t" } };
    await enqueue({
      tasks: [json, { id: "bytes", payload: "AAEC/w==", encoding: "base64" }, { id: "null", payload: null }],
    });
    const read = async (id: string, query = "?payload=true") =>
      (await ask("GET", `${tasks()}/${id}${query}`)).body;
    expect(await read("json", "")).toEqual({
      id: "json",
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
      options: { maxAttempts: 3, lease: 60_000 },
    });
    expect(await read("json", "?payload=false")).not.toHaveProperty("payload");
    expect(await read("json")).toMatchObject({ payload: { to: "a" }, headers: { trace: "t" } });
    expect(await read("bytes")).toMatchObject({ payload: "AAEC/w==", payloadEncoding: "base64" });
    expect(await read("null", "?payload=true&wait=10ms")).toMatchObject({ payload: null });
    await settle({ receipt: (await receipts())[0], outcome: "complete" });
    expect(await read("json")).not.toHaveProperty("payload");
  });

  it("has the errors of its attempts, alone and in a list", async () => {
    await enqueue({ id: "x", payload: 1 });
    const at: number[] = [];
    const bytes = { error: Buffer.from("bytes").toString("base64"), encoding: "base64" };
    for (const error of [
      { error: { name: "HttpError", message: "HTTP 503" } },
      { error: "long; ".repeat(100) },
      bytes,
      {},
    ]) {
      await settle({ receipt: (await receipts())[0], outcome: "requeue", ...error });
      at.push((await get("x")).body.requeuedAt);
    }
    const expected = ["HttpError: HTTP 503", `${"long; ".repeat(34).slice(0, 199)}…`, "5 bytes"].map(
      (error, i) => ({ attempt: i + 1, at: at[i], error }),
    );
    expect((await get("x")).body.errors).toEqual(expected);
    expect((await ask("GET", `${tasks()}?state=pending`)).body.tasks[0].errors).toEqual(expected);
    await ask("POST", `${tasks()}/pull`, { json: { worker: { name: "w" } } });
    await ask("POST", `/v1/queues/${queue()}/workers/w/fail`);
    const { errors } = (await get("x")).body;
    expect(errors).toEqual([...expected, { attempt: 5, at: expect.any(Number), error: null }]);
  });

  it("may have an id that has to be percent-encoded", async () => {
    const id = "a/b?c#d%41&;e";
    const { headers } = await enqueue({ id, payload: 1 });
    expect(headers.get("location")).toBe(`tasks/${encodeURIComponent(id)}`);
    expect((await get(id)).body.id).toBe(id);
    const cancelled = await ask("POST", `${tasks()}/${encodeURIComponent(id)}/cancel`);
    expect([cancelled.status, cancelled.body]).toEqual([200, { id, state: "rejected" }]);
  });
});
