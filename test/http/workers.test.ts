import { expect, it } from "vitest";
import { servedQueue } from "./served.ts";

// What the requests and answers have beside what the library takes and returns: test/model calls over HTTP too.

const { ask, path, enqueue, pull, settle, get, counts, pages } = servedQueue();

const pullAs = async (worker: object, json: object = {}): Promise<{ id: string; receipt: string }[]> =>
  (await pull({ worker, ...json })).body.tasks;
const enqueueNamed = (...ids: string[]) => enqueue({ tasks: ids.map((id) => ({ id, payload: id })) });
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

it("a heartbeat extends the leases of the receipts alone, and says which are over", async () => {
  await enqueueNamed("a", "b", "c");
  const worker = { name: "w", incarnation: "1" };
  const [a, b] = await pullAs(worker, { max: 3, lease: "1m" });
  await settle({ receipt: b?.receipt, outcome: "complete" });
  const json = { worker, lease: "1h", receipts: [a?.receipt, b?.receipt] };
  const { status, body } = await ask("POST", `${path()}/workers/heartbeat`, { json });
  const { deadlineAt } = (await get("a")).body;
  expect([status, body]).toEqual([200, { leases: 1, deadlineAt, cancelRequested: [], lost: ["b"] }]);
  expect(deadlineAt).toBeGreaterThan((await get("c")).body.deadlineAt);
});

it("failing a worker returns exactly its tasks; of one incarnation it leaves the others, null means none", async () => {
  await enqueueNamed("a", "b", "c", "d");
  for (const one of [{ incarnation: "1" }, { incarnation: "2" }, {}]) await pullAs({ name: "w;1", ...one });
  await pullAs({ name: "other" });
  const fail = (json?: unknown) => ask("POST", `${path()}/workers/w%3B1/fail`, { json });
  const failed = { name: "w;1", returned: 1, rejected: 0, more: false };
  for (const incarnation of ["1", null]) expect((await fail({ incarnation })).body).toEqual(failed);
  expect(await counts()).toMatchObject({ pending: 2, working: 2 });
  expect((await fail()).body).toEqual(failed);
  expect((await get("d")).body).toMatchObject({ state: "working", worker: { name: "other" } });
});
