import { describe, expect, it } from "vitest";
import { expectProblem, servedQueue } from "./served.ts";

// What the requests and answers have beside what the library takes and returns: test/model calls over HTTP too.

const { ask, path, enqueue, pull, settle, get, counts } = servedQueue();

const workers = () => `${path()}/workers`;
const heartbeat = (json: unknown) => ask("POST", `${workers()}/heartbeat`, { json });
const fail = (name: string, json?: unknown) =>
  ask("POST", `${workers()}/${encodeURIComponent(name)}/fail`, { json });
const pullAs = async (worker: object, json: object = {}): Promise<{ id: string; receipt: string }[]> =>
  (await pull({ worker, ...json })).body.tasks;
const enqueueNamed = (...ids: string[]) => enqueue({ tasks: ids.map((id) => ({ id, payload: id })) });

it("the workers of a queue are those that pulled under a name, each with its leased tasks, by pages", async () => {
  await enqueueNamed("a", "b", "c");
  const first = { name: "w/1", incarnation: "4f", node: "fra1 ✓", pid: 4711, silentAfter: "2m" };
  await pullAs(first, { max: 2 });
  await pullAs({ name: "idle" });
  await pullAs({ name: "empty" });
  const { status, body } = await ask("GET", workers());
  expect([status, body.cursor]).toEqual([200, null]);
  const byName = body.workers.toSorted((x: { name: string }, y: { name: string }) =>
    x.name < y.name ? -1 : 1,
  );
  const times = { seenAt: expect.any(Number), silentAt: expect.any(Number) };
  expect(byName).toEqual([
    { name: "empty", ...times, working: 0, tasks: [] },
    { name: "idle", ...times, working: 1, tasks: ["c"] },
    { ...first, silentAfter: 120_000, ...times, working: 2, tasks: ["a", "b"] },
  ]);
  for (const { seenAt, silentAt } of body.workers) {
    expect(seenAt).toBeLessThanOrEqual(body.now);
    expect(silentAt).toBeGreaterThan(seenAt);
  }
  const names = new Set<string>();
  for (let query = "?size=1"; query !== "";) {
    const page = (await ask("GET", `${workers()}${query}`)).body;
    for (const { name } of page.workers) names.add(name);
    query = page.cursor === null ? "" : `?size=1&cursor=${page.cursor}`;
  }
  expect(names).toEqual(new Set(["empty", "idle", "w/1"]));
});

describe("a heartbeat", () => {
  it("lists a worker that has no tasks", async () => {
    const { status, body } = await heartbeat({ worker: { name: "w" } });
    expect([status, body]).toEqual([200, { leases: 0, deadlineAt: null, cancelRequested: [] }]);
    expect((await counts()).workers).toBe(1);
  });

  it("extends every lease of the incarnation, and of no other; returns which tasks were cancelled", async () => {
    await enqueueNamed("a", "b", "c");
    await pullAs({ name: "w", incarnation: "1" }, { max: 2, lease: "1m" });
    await pullAs({ name: "w", incarnation: "2" }, { lease: "1m" });
    await ask("POST", `${path()}/tasks/b/cancel`);
    const before = (await get("c")).body.deadlineAt;
    const { status, body } = await heartbeat({ worker: { name: "w", incarnation: "1" }, lease: "1h" });
    const { deadlineAt } = body;
    expect([status, body]).toEqual([200, { leases: 2, deadlineAt, cancelRequested: ["b"] }]);
    expect(deadlineAt).toBeGreaterThan(before);
    const deadlines = ["a", "b", "c"].map(async (id) => (await get(id)).body.deadlineAt);
    expect(await Promise.all(deadlines)).toEqual([deadlineAt, deadlineAt, before]);
  });

  it("with receipts extends these leases alone, and says which are over", async () => {
    await enqueueNamed("a", "b", "c");
    const [a, b] = await pullAs({ name: "w" }, { max: 3, lease: "1m" });
    const before = (await get("c")).body.deadlineAt;
    await settle({ receipt: b?.receipt, outcome: "complete" });
    const receipts = [a?.receipt, b?.receipt];
    const { status, body } = await heartbeat({ worker: { name: "w" }, lease: "1h", receipts });
    const { deadlineAt } = body;
    expect([status, body]).toEqual([200, { leases: 1, deadlineAt, cancelRequested: [], lost: ["b"] }]);
    expect([(await get("a")).body.deadlineAt, (await get("c")).body.deadlineAt]).toEqual([
      deadlineAt,
      before,
    ]);
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
    const lost = [{ ok: false, code: "lease_lost" }];
    expect((await settle({ receipt: a?.receipt, outcome: "complete" })).body.results).toMatchObject(lost);
    // Tasks whose worker died travel in smaller batches.
    const next = await pullAs({ name: "w;1", incarnation: "new" }, { max: 40 });
    expect(next.map(({ id }) => id)).toEqual(["a", "b", "d"]);
    expect((await heartbeat({ worker: { name: "w;1", incarnation: "new" } })).body.leases).toBe(3);
  });

  it("of one incarnation leaves the others; null means a worker without an incarnation", async () => {
    await enqueueNamed("a", "b", "c");
    for (const one of [{ incarnation: "1" }, { incarnation: "2" }, {}]) await pullAs({ name: "w", ...one });
    expect((await fail("w", { incarnation: "1" })).body.returned).toBe(1);
    expect((await fail("w", { incarnation: null })).body.returned).toBe(1);
    const states = ["a", "b", "c"].map(async (id) => (await get(id)).body.state);
    expect(await Promise.all(states)).toEqual(["pending", "working", "pending"]);
  });
});
