import { describe, expect, it } from "vitest";
import { expectProblem, servedQueue } from "./served.ts";

const { ask, path, enqueue, pull, settle, get, counts } = servedQueue();

const workers = () => `${path()}/workers`;
const heartbeat = (json: unknown) => ask("POST", `${workers()}/heartbeat`, { json });
const fail = (name: string, json?: unknown) =>
  ask("POST", `${workers()}/${encodeURIComponent(name)}/fail`, { json });
const pullAs = async (worker: object, json: object = {}): Promise<{ id: string; receipt: string }[]> =>
  (await pull({ worker, ...json })).body.tasks;
const enqueueNamed = (...ids: string[]) => enqueue({ tasks: ids.map((id) => ({ id, payload: id })) });

describe("the workers of a queue", () => {
  it("are those that pulled under a name, each with its leased tasks", async () => {
    await enqueueNamed("a", "b", "c");
    const first = { name: "w/1", incarnation: "4f", node: "fra1 ✓", pid: 4711, silentAfter: "2m" };
    await pullAs(first, { max: 2 });
    await pullAs({ name: "idle" }, { max: 1 });
    await pullAs({ name: "empty" });
    const { status, body } = await ask("GET", workers());
    expect([status, body.cursor]).toEqual([200, null]);
    expect(
      body.workers.toSorted((x: { name: string }, y: { name: string }) => (x.name < y.name ? -1 : 1)),
    ).toEqual([
      { name: "empty", seenAt: expect.any(Number), silentAt: expect.any(Number), working: 0, tasks: [] },
      { name: "idle", seenAt: expect.any(Number), silentAt: expect.any(Number), working: 1, tasks: ["c"] },
      {
        ...first,
        silentAfter: 120_000,
        seenAt: expect.any(Number),
        silentAt: expect.any(Number),
        working: 2,
        tasks: ["a", "b"],
      },
    ]);
    for (const { seenAt, silentAt } of body.workers) {
      expect(seenAt).toBeLessThanOrEqual(body.now);
      expect(silentAt).toBeGreaterThan(seenAt);
    }
  });

  it("come by pages", async () => {
    for (const name of ["a", "b", "c"]) await pullAs({ name });
    const names = new Set<string>();
    let query = "?size=1";
    for (;;) {
      const { body } = await ask("GET", `${workers()}${query}`);
      for (const { name } of body.workers) names.add(name);
      if (body.cursor === null) break;
      query = `?size=1&cursor=${body.cursor}`;
    }
    expect(names).toEqual(new Set(["a", "b", "c"]));
  });

  it.each([
    ["cursor", "?cursor=x"],
    ["cursor", "?cursor="],
    ["size", "?size=0"],
    ["size", "?size=1001"],
    ["size", "?size=ten"],
    ["size", "?size=1e2"],
    ["name", "?name=w"],
  ])("are not listed with a bad %s: %s", async (parameter, query) => {
    const { errors } = expectProblem(await ask("GET", `${workers()}${query}`), "invalid_request");
    expect(errors).toEqual([{ path: parameter, message: expect.any(String) }]);
  });
});

describe("a heartbeat", () => {
  it("extends every lease of the incarnation, and of no other", async () => {
    await enqueueNamed("a", "b", "c");
    const [a, b] = await pullAs({ name: "w", incarnation: "1" }, { max: 2, lease: "1m" });
    await pullAs({ name: "w", incarnation: "2" }, { lease: "1m" });
    const before = (await get("c")).body.deadlineAt;
    const { status, body } = await heartbeat({ worker: { name: "w", incarnation: "1" }, lease: "1h" });
    expect([status, body]).toEqual([200, { leases: 2, deadlineAt: expect.any(Number), cancelRequested: [] }]);
    for (const task of [a, b]) {
      expect((await get(task?.id ?? "")).body.deadlineAt).toBe(body.deadlineAt);
    }
    expect((await get("c")).body.deadlineAt).toBe(before);
    expect(body.deadlineAt).toBeGreaterThan(before);
  });

  it("lists a worker that has no tasks", async () => {
    expect((await heartbeat({ worker: { name: "w" } })).body).toEqual({
      leases: 0,
      deadlineAt: null,
      cancelRequested: [],
    });
    expect((await counts()).workers).toBe(1);
  });

  it("with receipts extends these leases alone, and says which are over", async () => {
    await enqueueNamed("a", "b", "c");
    const [a, b] = await pullAs({ name: "w" }, { max: 3, lease: "1m" });
    const before = (await get("c")).body.deadlineAt;
    await ask("POST", `${path()}/tasks/settle`, {
      json: { settlements: [{ receipt: b?.receipt, outcome: "complete" }] },
    });
    const receipts = [a?.receipt, b?.receipt];
    const { status, body } = await heartbeat({ worker: { name: "w" }, lease: "1h", receipts });
    const reported = { leases: 1, deadlineAt: expect.any(Number), cancelRequested: [], lost: ["b"] };
    expect([status, body]).toEqual([200, reported]);
    expect((await get("a")).body.deadlineAt).toBe(body.deadlineAt);
    expect((await get("c")).body.deadlineAt).toBe(before);
  });

  it("returns which tasks were cancelled", async () => {
    await enqueueNamed("a", "b");
    await pullAs({ name: "w" }, { max: 2 });
    await ask("POST", `${path()}/tasks/b/cancel`);
    expect((await heartbeat({ worker: { name: "w" } })).body).toMatchObject({
      leases: 2,
      cancelRequested: ["b"],
    });
  });

  it.each([
    ["worker", {}],
    ["worker", { worker: "w" }],
    ["worker.name", { worker: { incarnation: "1" } }],
    ["worker.name", { worker: { name: "a b" } }],
    ["lease", { worker: { name: "w" }, lease: 0 }],
    ["lease", { worker: { name: "w" }, receipts: [], lease: 0 }],
    ["receipts", { worker: { name: "w" }, receipts: "1.1.1.token-01.a" }],
    ["receipts[0]", { worker: { name: "w" }, receipts: ["a"] }],
    ["name", { worker: { name: "w" }, name: "w" }],
  ])("names the invalid field %j: %j", async (field, json) => {
    const { errors } = expectProblem(await heartbeat(json), "invalid_request");
    expect(errors).toEqual([{ path: field, message: expect.any(String) }]);
    expect((await counts()).workers).toBe(0);
  });
});

describe("failing a worker", () => {
  it("returns exactly its tasks to the front; its next heartbeat is refused until a new incarnation", async () => {
    await enqueueNamed("a", "b", "c", "d");
    const [a] = await pullAs({ name: "w;1", incarnation: "old" }, { max: 2 });
    await pullAs({ name: "other" });
    const { status, body } = await fail("w;1");
    expect([status, body]).toEqual([200, { name: "w;1", returned: 2, rejected: 0, more: false }]);
    expect((await get("c")).body).toMatchObject({ state: "working", worker: { name: "other" } });
    expectProblem(await heartbeat({ worker: { name: "w;1", incarnation: "old" } }), "worker_lost");
    expect((await settle({ receipt: a?.receipt, outcome: "complete" })).body.results).toMatchObject([
      { ok: false, code: "lease_lost" },
    ]);
    // Tasks whose worker died travel in smaller batches.
    const next = await pullAs({ name: "w;1", incarnation: "new" }, { max: 40 });
    expect(next.map(({ id }) => id)).toEqual(["a", "b", "d"]);
    expect((await heartbeat({ worker: { name: "w;1", incarnation: "new" } })).body.leases).toBe(3);
  });

  it("of one incarnation leaves the others; null means a worker without an incarnation", async () => {
    await enqueueNamed("a", "b", "c");
    await pullAs({ name: "w", incarnation: "1" });
    await pullAs({ name: "w", incarnation: "2" });
    await pullAs({ name: "w" });
    expect((await fail("w", { incarnation: "1" })).body.returned).toBe(1);
    expect((await get("a")).body.state).toBe("pending");
    expect((await fail("w", { incarnation: null })).body.returned).toBe(1);
    expect((await get("c")).body.state).toBe("pending");
    expect((await get("b")).body.state).toBe("working");
  });

  it("goes on where the last call reached its limit, and a task without another attempt is rejected", async () => {
    const tasks = ["a", "b", "c"].map((id) => ({ id, payload: id, maxAttempts: id === "a" ? 1 : 5 }));
    await enqueue({ tasks });
    await pullAs({ name: "w" }, { max: 3 });
    const first = (await fail("w", { limit: 2 })).body;
    const second = (await fail("w", { limit: 2 })).body;
    expect(first).toMatchObject({ more: true });
    expect(second).toMatchObject({ more: false });
    expect([first.returned + second.returned, first.rejected + second.rejected]).toEqual([2, 1]);
    expect(await counts()).toMatchObject({ pending: 2, working: 0, rejected: 1 });
  });

  it("that is unknown returns nothing", async () => {
    expect((await fail("missing")).body).toEqual({ name: "missing", returned: 0, rejected: 0, more: false });
  });

  it.each([
    ["incarnation", { incarnation: "" }],
    ["limit", { limit: 0 }],
    ["limit", { limit: 1_001 }],
    ["worker", { worker: "w" }],
  ])("names the invalid field %j: %j", async (field, json) => {
    const { errors } = expectProblem(await fail("w", json), "invalid_request");
    expect(errors).toEqual([{ path: field, message: expect.any(String) }]);
  });

  it.each(["%20w", "x".repeat(129), "%2F"])("cannot be called %s", async (name) => {
    const { errors } = expectProblem(await ask("POST", `${workers()}/${name}/fail`), "invalid_request");
    expect(errors).toEqual([{ path: "name", message: expect.stringMatching(/^must be 1 to 128/) }]);
  });
});
