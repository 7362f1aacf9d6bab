import { describe, expect, it } from "vitest";
import { expectProblem, servedQueue } from "./served.ts";

// What the requests and answers have beside what the library takes and returns: test/model calls over HTTP too.

const { ask, queue, path, enqueue, pull, settle, counts, receipts } = servedQueue();

/** All that a list has, page by page. */
async function listed(url: string, name: string, size: number) {
  const all: { name: string; group: string; counts?: object }[] = [];
  for (let cursor = ""; ;) {
    const from = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const { body } = await ask("GET", `${url}size=${size}${from}`);
    all.push(...body[name]);
    if (body.cursor === null) return all;
    cursor = body.cursor;
  }
}

describe("queues", () => {
  const zeros = { pending: 0, delayed: 0, working: 0, rejected: 0, broken: 0, workers: 0, paused: false };

  it("are counted, and listed with their counts if asked", async () => {
    expect(await counts()).toEqual({ queue: queue(), ...zeros, oldestAge: null, nextDueAt: null });
    await enqueue({ tasks: [{ payload: 1 }, { payload: 2 }, { payload: 3, delay: "1h" }] });
    await pull();
    const { status, body } = await ask("GET", path());
    const some = { ...zeros, pending: 1, delayed: 1, working: 1 };
    const [oldestAge, nextDueAt] = [expect.any(Number), expect.any(Number)];
    expect([status, body]).toEqual([200, { queue: queue(), ...some, oldestAge, nextDueAt }]);
    const withCounts = (await listed("/v1/queues?counts=true&", "queues", 10)).find(
      ({ name }) => name === queue(),
    );
    expect(withCounts?.counts).toEqual({ ...some, oldestAge, nextDueAt: body.nextDueAt });
    expect((await listed("/v1/queues?counts=false&", "queues", 10)).filter((one) => "counts" in one)).toEqual(
      [],
    );
    const { errors } = expectProblem(await ask("GET", "/v1/queues?counts=1"), "invalid_request");
    expect(errors).toEqual([{ path: "counts", message: "must be true or false" }]);
  });
});

const unset = {
  paused: false,
  maxWorking: null,
  rate: null,
  maxPending: null,
  events: false,
  statistics: false,
};
const post = (verb: string, headers = {}) => ask("POST", `${path()}/${verb}`, { headers });
const settings = () => ask("GET", `${path()}/settings`);
const configure = (json: unknown, headers = {}) => ask("PATCH", `${path()}/settings`, { json, headers });

describe("a queue", () => {
  it("that is paused gives no tasks and says so, until it is resumed; a late copy of the pause changes nothing", async () => {
    await enqueue({ tasks: [{ payload: 1 }, { payload: 2 }] });
    const key = { "idempotency-key": "pause-1" };
    const paused = await post("pause", key);
    expect([paused.status, paused.body]).toEqual([200, { ...unset, paused: true }]);
    expect((await pull({ max: 2 })).body).toEqual({ tasks: [], nextDueAt: null, paused: true });
    expect((await post("resume")).body).toEqual(unset);
    const late = await post("pause", key);
    expect([late.status, late.body.paused]).toEqual([200, false]);
    expect((await pull({ max: 3 })).body.tasks).toHaveLength(2);
  });

  it("takes one setting at a time or several; null unsets; a copy sets nothing, and gets the current settings", async () => {
    expect((await settings()).body).toEqual(unset);
    const key = { "idempotency-key": "set-1" };
    const changes = { maxWorking: 1, rate: { most: 10, per: "1m" }, statistics: true };
    const set = await configure(changes, key);
    const expected = { ...unset, ...changes, rate: { most: 10, per: 60_000 } };
    expect([set.status, set.body]).toEqual([200, expected]);
    expect((await settings()).body).toEqual(expected);
    expect((await configure({ rate: null, statistics: null })).body).toEqual({ ...unset, maxWorking: 1 });
    expect((await configure(changes, key)).body).toEqual({ ...unset, maxWorking: 1 });
    expect((await configure({})).body).toEqual({ ...unset, maxWorking: 1 });
    await enqueue({ tasks: [{ payload: 1 }, { payload: 2 }] });
    expect((await pull({ max: 2 })).body.tasks).toHaveLength(1);
  });

  it("refuses an enqueue over its maxPending with queue_full, and says why", async () => {
    await configure({ maxPending: 2 });
    await enqueue({ payload: 1 });
    const answer = await enqueue({ tasks: [{ payload: 2 }, { payload: 3 }] });
    expect(expectProblem(answer, "queue_full").detail).toContain("`maxPending`");
    expect((await counts()).pending).toBe(1);
  });

  it("returns what happened by the minute, if it keeps statistics", async () => {
    expect((await ask("GET", `${path()}/statistics`)).body).toMatchObject({ queue: queue(), on: false });
    await configure({ statistics: true });
    await enqueue({ tasks: [{ payload: 1 }, { payload: 2 }] });
    await settle({ receipt: (await receipts())[0], outcome: "complete" });
    const { status, body } = await ask("GET", `${path()}/statistics`);
    expect([status, body.on, body.minutes.length]).toEqual([200, true, 60]);
    const total = (event: string) =>
      body.minutes.reduce((sum: number, minute: Record<string, number>) => sum + (minute[event] ?? 0), 0);
    expect(["enqueued", "dequeued", "completed", "rejected"].map(total)).toEqual([2, 1, 1, 0]);
    expect(body.perMinute).toMatchObject({ enqueued: expect.any(Number) });
  });
});

describe("groups", () => {
  const group = (name: string) => `${path()}/groups/${encodeURIComponent(name)}`;

  it("have weight 1 and no limits until they are set, and count their tasks by state; null unsets", async () => {
    const name = "tenant/7;%41";
    await enqueue({ tasks: [1, 2, 3].map((payload) => ({ payload, group: name })) });
    const of = { queue: queue(), group: name };
    const untouched = { weight: 1, maxWorking: null, rate: null };
    const fresh = await ask("GET", group(name));
    const waiting = { ready: 3, working: 0, limited: 0 };
    expect([fresh.status, fresh.body]).toEqual([200, { ...of, ...untouched, ...waiting }]);
    const headers = { "idempotency-key": "group-1" };
    const json = { weight: 3, maxWorking: 1 };
    const set = await ask("PATCH", group(name), { json, headers });
    expect([set.status, set.body]).toEqual([200, { ...untouched, ...json }]);
    expect((await pull({ max: 3 })).body.tasks).toHaveLength(1);
    expect((await ask("GET", group(name))).body).toMatchObject({ ...of, ...json, working: 1, limited: 2 });
    const nulls = { weight: null, maxWorking: null };
    expect((await ask("PATCH", group(name), { json: nulls })).body).toEqual(untouched);
    expect((await ask("PATCH", group(name), { json, headers })).body).toEqual(untouched);
  });

  it("with waiting tasks are listed, by pages, each as its own route has it", async () => {
    await ask("PATCH", group("b"), { json: { weight: 2, maxWorking: 1 } });
    await enqueue({ tasks: ["b", "b", "a", "c%", "a!"].map((name) => ({ payload: 1, group: name })) });
    const all = await listed(`${path()}/groups?`, "groups", 2);
    expect(all.map((one) => one.group)).toEqual(["a", "a!", "b", "c%"]);
    for (const one of all) expect(one).toEqual((await ask("GET", group(one.group))).body);
    expect(all[2]).toMatchObject({ weight: 2, maxWorking: 1, rate: null, ready: 1, working: 0, limited: 1 });
    const { detail } = expectProblem(await ask("GET", `${path()}/groups?cursor=7`), "invalid_request");
    expect(detail).toContain("cursor must be the cursor of an earlier call");
  });
});

describe("deleting a queue", () => {
  const names = async () => (await listed("/v1/queues?", "queues", 1_000)).map(({ name }) => name);

  it("removes all that belongs to it and its entry in the list; the name may be used again; a late copy deletes nothing", async () => {
    await configure({ maxWorking: 5 });
    await enqueue({
      tasks: [
        { id: "x", payload: 1 },
        { payload: 2, delay: "1h" },
      ],
    });
    expect(await names()).toContain(queue());
    const headers = { "idempotency-key": "delete-1" };
    const { status, body } = await ask("DELETE", path(), { headers });
    expect([status, body]).toEqual([200, { queue: queue(), deleted: true }]);
    expect(await counts()).toMatchObject({ pending: 0, delayed: 0 });
    expect((await settings()).body).toEqual(unset);
    expect(await names()).not.toContain(queue());
    expect((await enqueue({ id: "x", payload: 1 })).status).toBe(201);
    expect(await names()).toContain(queue());
    const late = await ask("DELETE", path(), { headers });
    expect([late.status, late.body]).toEqual([200, { queue: queue(), deleted: true }]);
    expect((await counts()).pending).toBe(1);
  });

  it("is refused while tasks are being worked on, unless it is forced", async () => {
    await enqueue({ tasks: [{ payload: 1 }, { payload: 2 }] });
    const [receipt] = await receipts();
    for (const address of [path(), `${path()}?force=false`]) {
      const answer = await ask("DELETE", address);
      expect(expectProblem(answer, "still_working").detail).toMatch(/^1 task/);
    }
    expect(await counts()).toMatchObject({ pending: 1, working: 1 });
    expect((await ask("DELETE", `${path()}?force=true`)).status).toBe(200);
    const lost = [{ receipt, ok: false, code: "lease_lost" }];
    expect((await settle({ receipt, outcome: "complete" })).body.results).toEqual(lost);
  });
});
