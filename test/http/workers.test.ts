import { describe, expect, it } from "vitest";
import { expectProblem, servedQueue } from "./served.ts";

// What the requests and answers have beside what the library takes and returns: test/model calls over HTTP too.

const { ask, path, enqueue, pull, settle, get, counts, pages } = servedQueue();

const heartbeat = (json: unknown) => ask("POST", `${path()}/workers/heartbeat`, { json });
const fail = async (name: string, json?: unknown) =>
  (await ask("POST", `${path()}/workers/${encodeURIComponent(name)}/fail`, { json })).body;
const pullAs = async (worker: object, json: object = {}): Promise<{ id: string; receipt: string }[]> =>
  (await pull({ worker, ...json })).body.tasks;
const enqueueNamed = (...ids: string[]) => enqueue({ tasks: ids.map((id) => ({ id, payload: id })) });
const each = async (field: string, ...ids: string[]) =>
  Promise.all(ids.map(async (id) => (await get(id)).body[field]));

it("the workers of a queue are those that pulled under a name, each with its leased tasks, by pages", async () => {
  await enqueueNamed("a", "b", "c");
  const first = { name: "w/1", incarnation: "4f", node: "fra1 ✓", pid: 4711, silentAfter: "2m" };
  await pullAs(first, { max: 2 });
  for (const name of ["idle", "empty"]) await pullAs({ name });
  const { cursor, now, workers } = (await ask("GET", `${path()}/workers`)).body;
  const times = { seenAt: expect.any(Number), silentAt: expect.any(Number) };
  const expected = [
    { name: "empty", ...times, working: 0, tasks: [] },
    { name: "idle", ...times, working: 1, tasks: ["c"] },
    { ...first, silentAfter: 120_000, ...times, working: 2, tasks: ["a", "b"] },
  ];
  expect([cursor, workers.length, workers]).toEqual([null, 3, expect.arrayContaining(expected)]);
  for (const { seenAt, silentAt } of workers) {
    expect(seenAt).toBeLessThanOrEqual(now);
    expect(silentAt).toBeGreaterThan(seenAt);
  }
  const paged = (await pages(`${path()}/workers`, "workers", 1)).flat();
  expect(paged).toEqual(expect.arrayContaining(expected));
});

describe("a heartbeat", () => {
  it("lists a worker that has no tasks", async () => {
    const none = { leases: 0, deadlineAt: null, cancelRequested: [] };
    expect((await heartbeat({ worker: { name: "w" } })).body).toEqual(none);
    expect((await counts()).workers).toBe(1);
  });

  it("extends every lease of the incarnation, or those of the receipts alone, and says which tasks were cancelled or are lost", async () => {
    await enqueueNamed("a", "b", "c", "d");
    const [worker, other] = ["1", "2"].map((incarnation) => ({ name: "w", incarnation }));
    const [a, b] = await pullAs(worker!, { max: 3, lease: "1m" });
    await pullAs(other!, { lease: "1m" });
    await ask("POST", `${path()}/tasks/c/cancel`);
    const [before] = await each("deadlineAt", "d");
    const { deadlineAt, ...rest } = (await heartbeat({ worker, lease: "1h" })).body;
    expect(rest).toEqual({ leases: 3, cancelRequested: ["c"] });
    expect(deadlineAt).toBeGreaterThan(before);
    const same = [deadlineAt, deadlineAt, deadlineAt, before];
    expect(await each("deadlineAt", "a", "b", "c", "d")).toEqual(same);

    await settle({ receipt: b?.receipt, outcome: "complete" });
    const receipts = [a?.receipt, b?.receipt];
    const later = (await heartbeat({ worker, lease: "2h", receipts })).body;
    expect(later).toMatchObject({ leases: 1, lost: ["b"] });
    expect(await each("deadlineAt", "a", "c", "d")).toEqual([later.deadlineAt, deadlineAt, before]);
  });
});

describe("failing a worker", () => {
  it("returns exactly its tasks to the front; its next heartbeat is refused until a new incarnation", async () => {
    await enqueueNamed("a", "b", "c", "d");
    await pullAs({ name: "w;1", incarnation: "old" }, { max: 2 });
    await pullAs({ name: "other" });
    expect(await fail("w;1")).toEqual({ name: "w;1", returned: 2, rejected: 0, more: false });
    expect((await get("c")).body).toMatchObject({ state: "working", worker: { name: "other" } });
    expectProblem(await heartbeat({ worker: { name: "w;1", incarnation: "old" } }), "worker_lost");
    // Tasks whose worker died travel in smaller batches.
    const next = await pullAs({ name: "w;1", incarnation: "new" }, { max: 40 });
    expect(next.map(({ id }) => id)).toEqual(["a", "b", "d"]);
    expect((await heartbeat({ worker: { name: "w;1", incarnation: "new" } })).body.leases).toBe(3);
  });

  it("of one incarnation leaves the others; null means a worker without an incarnation", async () => {
    await enqueueNamed("a", "b", "c");
    for (const one of [{ incarnation: "1" }, { incarnation: "2" }, {}]) await pullAs({ name: "w", ...one });
    for (const incarnation of ["1", null]) expect((await fail("w", { incarnation })).returned).toBe(1);
    expect(await each("state", "a", "b", "c")).toEqual(["pending", "working", "pending"]);
  });
});
