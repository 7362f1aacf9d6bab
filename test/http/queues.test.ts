import { describe, expect, it } from "vitest";
import { expectProblem, servedQueue } from "./served.ts";

const { ask, queue, path, enqueue, pull, settle, counts, receipts } = servedQueue();

describe("queues", () => {
  it("are counted", async () => {
    await enqueue({ tasks: [{ payload: 1 }, { payload: 2 }, { payload: 3, delay: "1h" }] });
    await pull();
    const { status, body } = await ask("GET", path());
    expect([status, body]).toEqual([
      200,
      {
        queue: queue(),
        pending: 1,
        delayed: 1,
        working: 1,
        rejected: 0,
        oldestAge: expect.any(Number),
        nextDueAt: expect.any(Number),
        broken: 0,
        workers: 0,
        paused: false,
      },
    ]);
  });

  it("without any task count 0", async () => {
    expect(await counts()).toEqual({
      queue: queue(),
      pending: 0,
      delayed: 0,
      working: 0,
      rejected: 0,
      oldestAge: null,
      nextDueAt: null,
      broken: 0,
      workers: 0,
      paused: false,
    });
  });

  it("are listed", async () => {
    await enqueue({ payload: 1 });
    const names = new Set<string>();
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? "?size=10" : `?size=10&cursor=${cursor}`;
      const { body } = await ask("GET", `/v1/queues${query}`);
      for (const { name } of body.queues) names.add(name);
      cursor = body.cursor;
    } while (cursor !== null);
    expect(names).toContain(queue());
  });
});

describe("the list of queues with counts", () => {
  it("has the counts of each, as the queue itself has them", async () => {
    await enqueue({ tasks: [{ payload: 1 }, { payload: 2, delay: "1h" }] });
    const all: { name: string; counts: object | null }[] = [];
    let cursor: string | null = null;
    do {
      const from: string = cursor === null ? "" : `&cursor=${cursor}`;
      const { body } = await ask("GET", `/v1/queues?counts=true&size=100${from}`);
      all.push(...body.queues);
      cursor = body.cursor;
    } while (cursor !== null);
    const { queue: _, ...own } = (await ask("GET", path())).body;
    const listed = all.find(({ name }) => name === queue());
    expect(listed?.counts).toEqual({ ...own, oldestAge: expect.any(Number) });
    expect(own).toMatchObject({ pending: 1, delayed: 1 });
  });

  it("has none unless asked, and refuses other values", async () => {
    await enqueue({ payload: 1 });
    const { body } = await ask("GET", "/v1/queues?counts=false");
    expect(body.queues.filter((one: object) => "counts" in one)).toEqual([]);
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
  it("that is paused gives no tasks and says so, until it is resumed; settling goes on", async () => {
    await enqueue({ tasks: [{ payload: 1 }, { payload: 2 }] });
    const [receipt] = await receipts();
    const paused = await post("pause");
    expect([paused.status, paused.body]).toEqual([200, { ...unset, paused: true }]);
    expect((await pull({ max: 2 })).body).toEqual({ tasks: [], nextDueAt: null, paused: true });
    expect((await settle({ receipt, outcome: "complete" })).body.results).toMatchObject([{ ok: true }]);
    expect((await enqueue({ payload: 3 })).status).toBe(201);
    expect(await counts()).toMatchObject({ pending: 2, paused: true });
    expect((await post("resume")).body).toEqual(unset);
    expect((await pull({ max: 3 })).body.tasks).toHaveLength(2);
  });

  it("stays resumed if a copy of an earlier pause arrives late", async () => {
    const key = { "idempotency-key": "pause-1" };
    expect((await post("pause", key)).body.paused).toBe(true);
    await post("resume");
    const late = await post("pause", key);
    expect([late.status, late.body.paused]).toEqual([200, false]);
  });

  it("refuses unknown fields in the body of a pause", async () => {
    const answer = await ask("POST", `${path()}/pause`, { json: { for: "1m" } });
    expect(expectProblem(answer, "invalid_request").errors).toEqual([
      { path: "for", message: "is not a known field" },
    ]);
    expect((await settings()).body).toEqual(unset);
  });

  it("takes one setting at a time or several; null unsets", async () => {
    expect((await settings()).body).toEqual(unset);
    const set = await configure({ maxWorking: 1, rate: { most: 10, per: "1m" }, statistics: true });
    const expected = { ...unset, maxWorking: 1, rate: { most: 10, per: 60_000 }, statistics: true };
    expect([set.status, set.body]).toEqual([200, expected]);
    expect((await settings()).body).toEqual(expected);
    expect((await configure({ rate: null, statistics: null })).body).toEqual({ ...unset, maxWorking: 1 });
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
    expect((await enqueue({ payload: 2 })).status).toBe(201);
  });

  it("is set once by a request and its copy, and the copy is answered with the current settings", async () => {
    const key = { "idempotency-key": "set-1" };
    await configure({ maxWorking: 1 }, key);
    await configure({ maxWorking: 2 });
    expect((await configure({ maxWorking: 1 }, key)).body.maxWorking).toBe(2);
  });

  it.each([
    ["maxWorking", { maxWorking: 0 }],
    ["maxWorking", { maxWorking: "5" }],
    ["maxPending", { maxPending: 100_000_001 }],
    ["rate", { rate: 5 }],
    ["rate.per", { rate: { most: 1 } }],
    ["rate.per", { rate: { most: 1, per: 0 } }],
    ["rate.most", { rate: { most: 1_000_001, per: 1 } }],
    ["rate.burst", { rate: { most: 1, per: 1, burst: 1 } }],
    ["events", { events: "yes" }],
    ["paused", { paused: true }],
    ["weight", { weight: 1 }],
    ["", [1]],
  ])("names the invalid field %j of settings: %j", async (field, json) => {
    const { errors } = expectProblem(await configure(json), "invalid_request");
    expect(errors).toEqual([{ path: field, message: expect.any(String) }]);
    expect((await settings()).body).toEqual(unset);
  });

  it("is not configured without a body", async () => {
    const { errors } = expectProblem(await ask("PATCH", `${path()}/settings`), "invalid_request");
    expect(errors).toEqual([{ path: "", message: "is missing" }]);
  });

  it("returns what happened by the minute, if it keeps statistics", async () => {
    const off = (await ask("GET", `${path()}/statistics`)).body;
    expect(off).toMatchObject({ queue: queue(), on: false });
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

describe("a group", () => {
  const group = (name: string) => `${path()}/groups/${encodeURIComponent(name)}`;
  const untouched = { weight: 1, maxWorking: null, rate: null };

  it("has weight 1 and no limits until it is set, and counts its tasks by state", async () => {
    const name = "tenant/7;%41";
    await enqueue({ tasks: [1, 2, 3].map((payload) => ({ payload, group: name })) });
    const fresh = await ask("GET", group(name));
    const of = { queue: queue(), group: name };
    expect([fresh.status, fresh.body]).toEqual([
      200,
      { ...of, ...untouched, ready: 3, working: 0, limited: 0 },
    ]);
    const set = await ask("PATCH", group(name), { json: { weight: 3, maxWorking: 1 } });
    expect([set.status, set.body]).toEqual([200, { weight: 3, maxWorking: 1, rate: null }]);
    expect((await pull({ max: 3 })).body.tasks).toHaveLength(1);
    expect((await ask("GET", group(name))).body).toMatchObject({ ...of, weight: 3, working: 1 });
  });

  it("is unset with null, and a copy of a request sets nothing", async () => {
    const key = { "idempotency-key": "group-1" };
    await ask("PATCH", group("g"), { json: { weight: 3 }, headers: key });
    expect((await ask("PATCH", group("g"), { json: { weight: null } })).body).toEqual(untouched);
    expect((await ask("PATCH", group("g"), { json: { weight: 3 }, headers: key })).body).toEqual(untouched);
  });

  it.each([
    ["weight", { weight: 101 }],
    ["weight", { weight: 0.5 }],
    ["maxPending", { maxPending: 1 }],
    ["rate.per", { rate: { most: 1, per: "soon" } }],
  ])("names the invalid field %j of settings: %j", async (field, json) => {
    const { errors } = expectProblem(await ask("PATCH", group("g"), { json }), "invalid_request");
    expect(errors).toEqual([{ path: field, message: expect.any(String) }]);
  });

  it.each(["%20x", "x".repeat(129), "%C3%A9"])("cannot be called %s", async (name) => {
    for (const method of ["GET", "PATCH"]) {
      const json = method === "PATCH" ? {} : undefined;
      const { errors } = expectProblem(
        await ask(method, `${path()}/groups/${name}`, { json }),
        "invalid_request",
      );
      expect(errors).toEqual([{ path: "group", message: expect.stringMatching(/^must be 1 to 128/) }]);
    }
  });
});

describe("deleting a queue", () => {
  const listed = async (): Promise<string[]> =>
    (await ask("GET", "/v1/queues")).body.queues.map(({ name }: { name: string }) => name);

  it("removes all that belongs to it and its entry in the list; the name may be used again", async () => {
    await configure({ maxWorking: 5 });
    await enqueue({
      tasks: [
        { id: "x", payload: 1 },
        { payload: 2, delay: "1h" },
      ],
    });
    expect(await listed()).toContain(queue());
    const { status, body } = await ask("DELETE", path());
    expect([status, body]).toEqual([200, { queue: queue(), deleted: true }]);
    expect(await counts()).toMatchObject({ pending: 0, delayed: 0 });
    expect((await settings()).body).toEqual(unset);
    expect(await listed()).not.toContain(queue());
    expect((await enqueue({ id: "x", payload: 1 })).status).toBe(201);
    expect(await listed()).toContain(queue());
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
    expect((await settle({ receipt, outcome: "complete" })).body.results).toEqual([
      { receipt, ok: false, code: "lease_lost" },
    ]);
  });

  it("that does not exist is no fault, and a late copy deletes nothing of a new queue", async () => {
    const headers = { "idempotency-key": "delete-1" };
    expect((await ask("DELETE", path(), { headers })).status).toBe(200);
    await enqueue({ payload: 1 });
    const late = await ask("DELETE", path(), { headers });
    expect([late.status, late.body]).toEqual([200, { queue: queue(), deleted: true }]);
    expect((await counts()).pending).toBe(1);
  });

  it.each([
    ["force", "?force=1"],
    ["force", "?force"],
    ["force", "?force=true&force=true"],
    ["all", "?all=true"],
  ])("names the invalid parameter %j: %s", async (parameter, query) => {
    const { errors } = expectProblem(await ask("DELETE", `${path()}${query}`), "invalid_request");
    expect(errors).toEqual([{ path: parameter, message: expect.any(String) }]);
  });
});
