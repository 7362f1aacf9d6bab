import { describe, expect, it } from "vitest";
import { type Caller, expectProblem, servedQueue } from "./served.ts";

// What the requests and answers have beside what the library takes and returns: test/proofs/model calls over HTTP too.

const { ask, queue, path, enqueue, pull, lose, counts, pages } = servedQueue();

const settings = async () => (await ask("GET", `${path()}/settings`)).body;
const group = (name: string) => `${path()}/groups/${encodeURIComponent(name)}`;

it("queues are counted, and listed with their counts if asked", async () => {
  const zeros = {
    pending: 0,
    delayed: 0,
    blocked: 0,
    working: 0,
    rejected: 0,
    broken: 0,
    workers: 0,
    stoppedGroups: 0,
  };
  const running = { paused: false, pausedUntil: null };
  expect(await counts()).toEqual({ queue: queue(), ...zeros, ...running, oldestAge: null, nextDueAt: null });
  await enqueue({ tasks: [{ payload: 1 }, { payload: 2 }, { payload: 3, delay: "1h" }] });
  await pull();
  const { nextDueAt, ...body } = await counts();
  const some = { ...zeros, ...running, pending: 1, delayed: 1, working: 1, oldestAge: expect.any(Number) };
  expect([body, nextDueAt]).toEqual([{ queue: queue(), ...some }, expect.any(Number)]);
  const listed = async (query: string) => (await pages(`/v1/queues${query}`, "queues", 10)).flat();
  const own = (await listed("?counts=true")).find(({ name }) => name === queue());
  expect(own.counts).toEqual({ ...some, nextDueAt });
  expect((await listed("?counts=false")).filter((one) => "counts" in one)).toEqual([]);
  const { errors } = expectProblem(await ask("GET", "/v1/queues?counts=1"), "invalid_request");
  expect(errors).toEqual([{ path: "counts", message: "must be true or false" }]);
});

it("a queue and a group are paused for a time", async () => {
  await enqueue({ tasks: [{ payload: 1 }, { payload: 2, group: "g" }] });
  const settingsOf = async (name: string, json?: unknown) =>
    (await ask(json ? "PATCH" : "GET", group(name), { json })).body;
  const paused = await settingsOf("g", { paused: { for: "1h" } });
  expect(paused).toMatchObject({ paused: true, pausedUntil: expect.any(Number) });
  expect(await settingsOf("g")).toMatchObject(paused);
  const answer = await ask("POST", `${path()}/pause`, { json: { for: 3_600_000 } });
  expect(answer.body).toMatchObject({ paused: true, pausedUntil: expect.any(Number) });
  const { pausedUntil } = answer.body;
  expect((await pull()).body).toMatchObject({ tasks: [], paused: true, nextDueAt: pausedUntil });
  expect(await counts()).toMatchObject({ paused: true, pausedUntil });
  expect((await ask("POST", `${path()}/pause`)).body).toMatchObject({ paused: true, pausedUntil: null });
  expect((await pull()).body).toMatchObject({ paused: true, nextDueAt: null });
  expect((await ask("POST", `${path()}/resume`)).body).toMatchObject({ paused: false, pausedUntil: null });
  const wrong: [object, string][] = [
    [{ for: 0 }, "for"],
    [{ for: "soon" }, "for"],
    [{ until: 1 }, "until"],
  ];
  for (const [json, at] of wrong) {
    const { errors } = expectProblem(await ask("POST", `${path()}/pause`, { json }), "invalid_request");
    expect(errors).toMatchObject([{ path: at }]);
  }
  for (const value of ["yes", { for: 0 }, { until: 1 }])
    expectProblem(await ask("PATCH", group("g"), { json: { paused: value } }), "invalid_request");
});

it("a queue refuses an enqueue over its maxPending with queue_full, and says why", async () => {
  await ask("PATCH", `${path()}/settings`, { json: { maxPending: 2 } });
  await enqueue({ payload: 1 });
  const answer = await enqueue({ tasks: [{ payload: 2 }, { payload: 3 }] });
  expect(expectProblem(answer, "queue_full").detail).toContain("`maxPending`");
  expect((await counts()).pending).toBe(1);
});

it("a worker is forgotten if it has no tasks; one without an incarnation by its name alone", async () => {
  const json = (worker: object) => ({ json: { worker } });
  const workers = async () => (await ask("GET", `${path()}/workers`)).body.workers;
  await enqueue({ payload: 1 });
  for (const worker of [{ name: "w/1", incarnation: "a" }, { name: "w/1" }])
    await ask("POST", `${path()}/tasks/pull`, json(worker));
  const forget = (query = "") => ask("DELETE", `${path()}/workers/w%2F1${query}`);
  expect(expectProblem(await forget("?incarnation=a"), "still_working").detail).toMatch(/^1 tasks? /);
  expect(await workers()).toHaveLength(2);
  expect(await forget()).toMatchObject({ status: 200, body: { name: "w/1", forgotten: true } });
  expect(await workers()).toMatchObject([{ name: "w/1", incarnation: "a" }]);
  expectProblem(await forget("?limit=1"), "invalid_request");
});

it("groups in strict order that a dead letter has stopped are counted and listed, and go on when it is skipped, redriven or deleted", async () => {
  const json = { order: "strict", onDead: "stop" };
  await ask("PATCH", `${path()}/settings`, { json });
  expect(await settings()).toMatchObject(json);
  await ask("PATCH", group("c"), { json: { onDead: "continue" } });
  await enqueue({
    tasks: ["a", "b", "c", "a"].map((name, i) => ({ payload: 1, group: name, id: `${name}${i}` })),
  });
  const { tasks } = (await pull({ max: 10 })).body;
  expect(tasks.map(({ id }: { id: string }) => id)).toEqual(["a0", "b1", "c2"]);
  const settlements = tasks.map(({ receipt }: { receipt: string }) => ({ receipt, outcome: "reject" }));
  await ask("POST", `${path()}/tasks/settle`, { json: { settlements } });
  expect(await counts()).toMatchObject({ stoppedGroups: 2, pending: 1 });
  const stopped = await pages(`${path()}/stopped-groups`, "groups", 1);
  expect(stopped.flat()).toEqual([
    { group: "a", id: "a0" },
    { group: "b", id: "b1" },
  ]);
  expect((await pull()).body.tasks).toEqual([]);
  const skip = async (id: string) => ask("POST", `${path()}/tasks/${id}/skip`);
  expect((await skip("a0")).body).toEqual({ id: "a0", skipped: true });
  expectProblem(await skip("none"), "not_found");
  expect((await pull()).body.tasks).toMatchObject([{ id: "a3" }]);
  expect(await counts()).toMatchObject({ stoppedGroups: 1 });
  const redriven = await ask("POST", `${path()}/redrive`, { json: { ids: ["b1"] } });
  expect(redriven.body).toMatchObject({ redriven: 1 });
  expect(await counts()).toMatchObject({ stoppedGroups: 0 });
  const again = (await pull()).body.tasks;
  expect(again).toMatchObject([{ id: "b1" }]);
  await ask("POST", `${path()}/tasks/settle`, {
    json: { settlements: [{ receipt: again[0].receipt, outcome: "reject" }] },
  });
  expect(await counts()).toMatchObject({ stoppedGroups: 1 });
  await ask("DELETE", `${path()}/tasks/b1`);
  expect(await counts()).toMatchObject({ stoppedGroups: 0 });
});

describe("groups", () => {
  it("have weight 1 and no limits until they are set, and count their tasks by state; null unsets", async () => {
    const name = "tenant/7;%41";
    await enqueue({ tasks: [1, 2, 3].map((payload) => ({ payload, group: name })) });
    const of = { queue: queue(), group: name };
    const untouched = {
      paused: false,
      pausedUntil: null,
      weight: 1,
      maxWorking: null,
      rate: null,
      order: null,
      onDead: null,
    };
    const waiting = { ready: 3, working: 0, limited: 0, inLine: 0, stoppedBy: null };
    expect((await ask("GET", group(name))).body).toEqual({ ...of, ...untouched, ...waiting });
    const json = { paused: false, weight: 3, maxWorking: 1 };
    expect((await ask("PATCH", group(name), { json })).body).toEqual({ ...untouched, ...json });
    await ask("PATCH", group(name), { json: { paused: true } });
    expect((await pull({ max: 3 })).body.tasks).toEqual([]);
    expect((await ask("PATCH", group(name), { json: { paused: null } })).body).toEqual({
      ...untouched,
      ...json,
    });
    expect((await pull({ max: 3 })).body.tasks).toHaveLength(1);
    expect((await ask("GET", group(name))).body).toMatchObject({ ...of, ...json, working: 1, limited: 2 });
    const nulls = { weight: null, maxWorking: null };
    expect((await ask("PATCH", group(name), { json: nulls })).body).toEqual(untouched);
  });

  it("with waiting tasks are listed, by pages, each as its own route has it", async () => {
    await ask("PATCH", group("b"), { json: { weight: 2, maxWorking: 1 } });
    await enqueue({ tasks: ["b", "b", "a", "c%", "a!"].map((name) => ({ payload: 1, group: name })) });
    const all = (await pages(`${path()}/groups`, "groups", 2)).flat();
    expect(all.map((one) => one.group)).toEqual(["a", "a!", "b", "c%"]);
    for (const one of all) expect(one).toEqual((await ask("GET", group(one.group))).body);
    const { detail } = expectProblem(await ask("GET", `${path()}/groups?cursor=7`), "invalid_request");
    expect(detail).toContain("cursor must be the cursor of an earlier call");
  });
});

describe("deleting a queue", () => {
  it("removes all that belongs to it and its entry in the list; the name may be used again", async () => {
    const isListed = async () =>
      (await pages("/v1/queues", "queues", 1_000)).flat().some(({ name }) => name === queue());
    await enqueue({
      tasks: [
        { id: "x", payload: 1 },
        { payload: 2, delay: "1h" },
      ],
    });
    expect(await isListed()).toBe(true);
    expect((await ask("DELETE", path())).body).toEqual({ queue: queue(), deleted: true });
    expect([await counts(), await isListed()]).toMatchObject([{ pending: 0, delayed: 0 }, false]);
    expect((await enqueue({ id: "x", payload: 1 })).status).toBe(201);
  });
});

const schedule = { every: "1h", from: 4_000_000_000_000, payload: 1 };
it.each<[method: string, at: string, json: object, undone: [method: string, at: string, json?: object]]>([
  ["POST", "/pause", {}, ["POST", "/resume"]],
  ["POST", "/resume", {}, ["POST", "/pause"]],
  ["PATCH", "/settings", { maxWorking: 1 }, ["PATCH", "/settings", { maxWorking: null }]],
  ["PATCH", "/groups/g", { weight: 3 }, ["PATCH", "/groups/g", { weight: null }]],
  ["DELETE", "", {}, ["POST", "/tasks", { payload: 1 }]],
  ["PUT", "/schedules/s", schedule, ["DELETE", "/schedules/s"]],
  ["DELETE", "/schedules/s", {}, ["PUT", "/schedules/s", schedule]],
])(
  "a late copy of %s %s, with the same Idempotency-Key, changes nothing",
  async (method, at, json, undone) => {
    const headers = { "idempotency-key": "once" };
    const state = async () => [
      await settings(),
      (await ask("GET", group("g"))).body,
      (await counts()).pending,
      (await ask("GET", `${path()}/schedules/s`)).body.every,
    ];
    const [undo, to, back] = undone;
    const copy = () => ask(method, path() + at, { headers, ...(method !== "DELETE" && { json }) });
    await ask(undo, path() + to, { json: back });
    const first = await copy();
    await ask(undo, path() + to, { json: back });
    const before = await state();
    expect([(await copy()).status, await state()]).toEqual([first.status, before]);
    expect(first.status).toBeLessThan(300);
  },
);

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
    { ...first, silentAfter: 120_000, state: "working", ...times, working: 2, tasks: ["a", "b"] },
  ];
  expect([cursor, workers.length, workers]).toEqual([null, 3, expect.arrayContaining(expected)]);
  for (const { seenAt, silentAt } of workers) {
    expect(seenAt).toBeLessThanOrEqual(now);
    expect(silentAt).toBeGreaterThan(seenAt);
  }
  const paged = (await pages(`${path()}/workers`, "workers", 1)).flat();
  expect(paged).toEqual(expect.arrayContaining(expected));
});

const sweep = (json: object, as: Caller = "all") =>
  ask("POST", "/v1/sweep", { json: { deep: true, ...json }, as });
const missing = (ids: string[]) => ({ queue: queue(), fault: "place_missing", count: 1, ids });

it("a deep sweep puts a task that is in no list back, and says so", async () => {
  await enqueue({ tasks: ["a", "b"].map((id) => ({ id, payload: id })) });
  await lose("a");
  const found = {
    queues: 1,
    entries: expect.any(Number),
    faults: [missing(["a"])],
    failed: [],
    cursor: null,
  };
  const { status, body } = await sweep({ queue: queue() });
  expect([status, body]).toEqual([200, found]);
  expect((await pull({ max: 2 })).body.tasks).toHaveLength(2);
  expect((await sweep({ queue: queue() })).body.faults).toEqual([]);
});

it("a deep sweep goes through all queues that the token may sweep, from cursor to cursor, and leaves others alone", async () => {
  await enqueue({ id: "a", payload: 1 });
  await lose("a");
  expect((await sweep({}, "mails")).body).toMatchObject({ queues: 0, faults: [] });
  const { detail } = expectProblem(await sweep({ queue: queue() }, "mails"), "forbidden");
  expect(detail).toBe(`The token does not have the scope admin for the queue ${queue()}.`);
  expect((await counts()).pending).toBe(0);

  const found: unknown[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { body } = await sweep({ budget: 1, examples: 0, cursor }, "cron");
    found.push(...body.faults);
    cursor = body.cursor;
  }
  expect([found, (await counts()).pending]).toEqual([[missing([])], 1]);
});

it("statistics have the last day by five minutes if asked for", async () => {
  await ask("PATCH", `${path()}/settings`, { json: { statistics: true } });
  await enqueue({ tasks: [1, 2, 3].map((payload) => ({ payload })) });
  await pull();
  const statistics = async (query: string) => (await ask("GET", `${path()}/statistics${query}`)).body;
  expect(await statistics("")).not.toHaveProperty("history");
  const { history } = await statistics("?history=true");
  const { startsAt, every, series, waitP95, runP95 } = history;
  expect([startsAt % 300_000, every]).toEqual([0, 300_000]);
  expect(Object.keys(series)).toEqual(["enqueued", "dequeued", "completed", "failed"]);
  for (const numbers of [...Object.values(series), waitP95, runP95]) expect(numbers).toHaveLength(288);
  // The five minutes may have ended meanwhile.
  expect(series.enqueued.slice(-2).toSorted()).toEqual([0, 3]);
  expect(waitP95.slice(-2)).toContainEqual(expect.any(Number));
  expect(runP95.slice(-2)).toEqual([null, null]);
});
