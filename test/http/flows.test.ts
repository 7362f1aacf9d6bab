import { beforeEach, describe, expect, it } from "vitest";
import { SluiceError } from "../../src/errors.ts";
import type { Transport } from "../../src/kernel/transport.ts";
import { expectProblem, useServed } from "./served.ts";

const served = useServed();
const { ask } = served;
beforeEach(async () => {
  await served.transport.send([["FLUSHALL"]]);
});

const nightly = {
  id: "nightly",
  tasks: [
    { ref: "mail", queue: "mails-b", payload: 3, after: ["rows", { ref: "audit", on: "ended" }] },
    { ref: "fetch", queue: "mails-a", payload: 1, maxAttempts: 3 },
    {
      ref: "rows",
      flow: [{ ref: "1", queue: "mails-b", payload: "AAEC", encoding: "base64" }],
      after: "fetch",
    },
    { ref: "audit", queue: "mails-a", payload: null },
  ],
};

const inner = (task: object) => ({ ref: "f", flow: [{ ref: "c", queue: "q", ...task }] });
const add = (json: unknown = nightly, options: object = {}) => ask("POST", "/v1/flows", { json, ...options });
const pulled = async (queue: string) =>
  (await ask("POST", `/v1/queues/${queue}/tasks/pull`, { json: { max: 10 } })).body.tasks;

describe("POST /v1/flows", () => {
  it("adds a flow over several queues: 201, and 200 for one that is known", async () => {
    const { status, body, headers } = await add(nightly, { as: "mails" });
    expect([status, body]).toEqual([
      201,
      {
        id: "nightly@mails-a",
        created: true,
        tasks: expect.objectContaining({ mail: expect.stringMatching(/^\d+\{nightly@mails-a\}$/) }),
      },
    ]);
    expect(Object.keys(body.tasks).toSorted()).toEqual(["audit", "fetch", "mail", "rows/1"]);
    expect(headers.get("location")).toBe("flows/nightly%40mails-a");
    const again = await add();
    expect([again.status, again.body]).toEqual([200, { ...body, created: false }]);
    const tasks = await pulled("mails-a");
    expect(tasks.map(({ payload }: { payload: unknown }) => payload).toSorted()).toEqual([1, null]);
    expect(await pulled("mails-b")).toEqual([]);
  });

  it("adds a batch: tasks side by side, and callbacks", async () => {
    const tasks = [1, 2].map((payload) => ({ queue: "mails-a", payload }));
    const completed = { queue: "mails-b", payload: "AAEC", encoding: "base64" };
    const { status, body } = await add({
      id: "b",
      tasks,
      completed,
      failed: { queue: "mails-b", payload: 4 },
    });
    expect([status, body.id, Object.keys(body.tasks)]).toEqual([
      201,
      "b@mails-a",
      ["1", "2", "completed", "failed"],
    ]);
    const settlements = (await pulled("mails-a")).map(({ receipt }: { receipt: string }) => {
      return { receipt, outcome: "complete" };
    });
    await ask("POST", "/v1/queues/mails-a/tasks/settle", { json: { settlements } });
    expect(await pulled("mails-b")).toMatchObject([{ payload: "AAEC", encoding: "base64" }]);
    const wrong = { tasks: [{ queue: "mails-a", payload: 1, after: "2" }], ended: {} };
    expect((await add(wrong)).body.errors.map(({ path }: { path: string }) => path)).toEqual([
      "tasks[0].after",
      "ended.queue",
      "ended.payload",
    ]);
    const alone = await add({ id: "alone", tasks });
    expect([alone.status, Object.keys(alone.body.tasks)]).toEqual([201, ["1", "2"]]);
    const mixed = { tasks: [...tasks, { ref: "a", queue: "q", payload: 1, after: "1" }] };
    expect((await add(mixed)).body.errors.map(({ path }: { path: string }) => path)).toEqual([
      "tasks[0].ref",
      "tasks[1].ref",
    ]);
    const foreign = await add({ tasks, ended: { queue: "bills", payload: 1 } }, { as: "mails" });
    expectProblem(foreign, "forbidden");
  });

  it("refuses a token that may not enqueue in one of its queues, and adds nothing", async () => {
    const tasks = [
      { ref: "a", queue: "mails-a", payload: 1 },
      { ref: "b", flow: [{ ref: "c", queue: "bills", payload: 1 }] },
    ];
    const refused = await add({ tasks }, { as: "mails" });
    expectProblem(refused, "forbidden");
    expect(refused.body.detail).toBe("The token does not have the scope enqueue for the queue bills.");
    expect(await served.transport.send([["DBSIZE"]])).toEqual([{ reply: 0 }]);
  });

  it.each([
    ["tasks", {}],
    ["tasks", { tasks: [] }],
    ["id", { ...nightly, id: "a@b" }],
    ["onFailure", { ...nightly, onFailure: "ignore" }],
    ["tasks[0].queue", { tasks: [{ ref: "a", payload: 1 }] }],
    ["tasks[0].id", { tasks: [{ ref: "a", queue: "q", payload: 1, id: "own" }] }],
    ["tasks[0].ref", { tasks: [{ ref: "a/b", queue: "q", payload: 1 }] }],
    ["tasks[1].flow[0].delay", { tasks: [nightly.tasks[1], inner({ payload: 1, delay: "soon" })] }],
    ["tasks[0].flow[0].payload", { tasks: [inner({ payload: "?", encoding: "base64" })] }],
    ["tasks[0].after", { tasks: [{ ref: "a", queue: "q", payload: 1, after: 7 }] }],
    ["tasks[0].flow[0].after", { tasks: [inner({ payload: 1, after: "d" })] }],
    ["tasks[0].after[0]", { tasks: [{ ref: "a", queue: "q", payload: 1, after: ["a"] }] }],
  ])("names what is wrong: %s", async (path, json) => {
    const refused = await add(json);
    expectProblem(refused, "invalid_request");
    expect(refused.body.errors[0].path).toBe(path);
    expect(refused.body.errors[0].message).not.toContain(path);
    expect(refused.body.detail.startsWith(`${path} `)).toBe(true);
    expect(await served.transport.send([["DBSIZE"]])).toEqual([{ reply: 0 }]);
  });

  it("gives a resend with the same Idempotency-Key the first answer, also if the first one got none", async () => {
    const { id: _, ...flow } = nightly;
    // Redis has done what a request asked for, and the answer is lost: the first one, or one behind it.
    for (const lost of [1, 2, 3]) {
      const headers = { "idempotency-key": `day-${lost}` };
      let left = lost;
      const send: Transport["send"] = async (...call) => {
        const outcomes = await served.transport.send(...call);
        if (--left === 0) throw new SluiceError("redis_unreachable", "the answer is lost");
        return outcomes;
      };
      const faulty = served.asking({ transport: { ...served.transport, send }, onError: () => {} });
      const first = await faulty("POST", "/v1/flows", { json: flow, headers });
      // Once the flow is recorded, a sweep adds what is left: that the caller need not know.
      expect([lost, first.status]).toEqual([lost, lost === 1 ? 504 : 201]);
      const { status, body } = await add(flow, { headers });
      expect([status, body.created, body.id]).toEqual([201, true, expect.stringMatching(/^\w{22}@mails-a$/)]);
      expect((await add(flow, { headers })).body).toEqual(body);
      const other = await add({ tasks: flow.tasks.slice(1) }, { headers });
      expectProblem(other, "idempotency_key_reused");
    }
    expect((await pulled("mails-a")).length).toBe(3 * 2);
    expect((await ask("GET", "/v1/queues/mails-b")).body).toMatchObject({ pending: 0, blocked: 3 * 2 });
  });
});

describe("a flow", () => {
  const at = "/v1/flows/nightly%40mails-a";
  const settle = async (queue: string, ...outcomes: object[]) => {
    const tasks = await pulled(queue);
    const settlements = outcomes.map((outcome, i) => ({ receipt: tasks[i].receipt, ...outcome }));
    return (await ask("POST", `/v1/queues/${queue}/tasks/settle`, { json: { settlements } })).body;
  };

  it("is reported: its state, its counts and its graph", async () => {
    const { tasks } = (await add()).body;
    const { status, body } = await ask("GET", at, { as: "mails" });
    expect([status, body]).toMatchObject([
      200,
      { id: "nightly@mails-a", state: "running", counts: { pending: 2, blocked: 2 }, isCancelled: false },
    ]);
    expect(body.nodes.find(({ ref }: { ref: string }) => ref === "mail")).toEqual({
      ref: "mail",
      kind: "task",
      queue: "mails-b",
      id: tasks.mail,
      state: "blocked",
      after: [
        { ref: "rows", on: "completed" },
        { ref: "audit", on: "ended" },
      ],
    });
    expect(body.nodes.find(({ ref }: { ref: string }) => ref === "rows")).toMatchObject({ kind: "flow" });
  });

  it("is redriven and cancelled as a whole", async () => {
    await add();
    await settle("mails-a", { outcome: "reject", error: "no" }, { outcome: "complete" });
    expect((await ask("GET", at)).body).toMatchObject({
      state: "rejected",
      counts: { rejected: 3, completed: 1 },
    });
    const redriven = await ask("POST", `${at}/redrive`, { as: "admin" });
    expect([redriven.status, redriven.body]).toEqual([200, { id: "nightly@mails-a", redriven: 1 }]);
    expect((await ask("GET", at)).body).toMatchObject({
      state: "running",
      counts: { pending: 1, blocked: 2 },
    });
    const cancelled = await ask("POST", `${at}/cancel`, { as: "enqueue" });
    expect([cancelled.status, cancelled.body]).toEqual([
      200,
      { id: "nightly@mails-a", cancelled: 3, flagged: 0 },
    ]);
    expect((await ask("GET", at)).body).toMatchObject({ state: "rejected", isCancelled: true });
  });

  it("shows a task what it waited for, with results, to a token of its own queue", async () => {
    const { tasks } = (await add()).body;
    await settle("mails-a", { outcome: "complete", result: { n: 1 } }, { outcome: "reject", error: "no" });
    await settle("mails-b", { outcome: "complete", result: "AAEC", encoding: "base64" });
    const before = (id: string) => `/v1/queues/mails-b/tasks/${encodeURIComponent(id)}/before`;
    expect((await ask("GET", before(tasks["rows/1"]), { as: "consume" })).body).toEqual({
      tasks: { fetch: { id: tasks.fetch, queue: "mails-a", state: "completed", result: { n: 1 } } },
    });
    expect((await ask("GET", before(tasks.mail))).body).toMatchObject({
      tasks: {
        rows: { queue: "mails-a", state: "completed" },
        audit: { id: tasks.audit, queue: "mails-a", state: "rejected", error: "no", reason: "rejected" },
      },
    });
    expect((await ask("GET", before("other"))).body).toEqual({ tasks: {} });
  });

  it("gets more tasks in front of one that waits", async () => {
    await add({
      tasks: [
        { ref: "a", queue: "mails-a", payload: 1 },
        { ref: "b", queue: "mails-a", payload: 2, after: "a" },
      ],
    });
    const [{ id, receipt }] = await pulled("mails-a");
    const path = `/v1/queues/mails-a/tasks/${encodeURIComponent(id)}/before`;
    const more = (queue: string, ref = "b", as: "mails" | "all" = "mails") =>
      ask("POST", path, { as, json: { receipt, ref, tasks: [{ ref: "c", queue, payload: 3 }] } });
    expectProblem(await more("bills"), "forbidden");
    expectProblem(await more("mails-b", "z"), "invalid_request");
    const added = await more("mails-b");
    expect([added.status, added.body]).toEqual([201, { created: true, tasks: { c: expect.any(String) } }]);
    expect((await more("mails-b")).body).toEqual({ ...added.body, created: false });
    await ask("POST", "/v1/queues/mails-a/tasks/settle", {
      json: { settlements: [{ receipt, outcome: "complete" }] },
    });
    expect((await ask("GET", "/v1/queues/mails-a")).body).toMatchObject({ pending: 0, blocked: 1 });
    expectProblem(await more("mails-b", "b"), "lease_lost");
    await settle("mails-b", { outcome: "complete" });
    expect((await ask("GET", "/v1/queues/mails-a")).body).toMatchObject({ pending: 1, blocked: 0 });
    const other = path.replace(encodeURIComponent(id), "x");
    const json = { receipt, ref: "b", tasks: [{ ref: "c", queue: "mails-b", payload: 3 }] };
    expectProblem(await ask("POST", other, { json }), "invalid_request");
  });

  it("is for tokens that have the scope for each of its queues", async () => {
    const tasks = [
      { ref: "a", queue: "mails-a", payload: 1 },
      { ref: "b", queue: "bills", payload: 1, after: "a" },
    ];
    await add({ id: "nightly", tasks });
    for (const [method, path] of [
      ["GET", at],
      ["POST", `${at}/cancel`],
      ["POST", `${at}/redrive`],
    ] as const) {
      const refused = await ask(method, path, { as: "mails" });
      expectProblem(refused, "forbidden");
      expect(refused.body.detail).toContain("for the queue bills");
      expectProblem(await ask(method, path.replace("mails-a", "bills"), { as: "mails" }), "forbidden");
      expectProblem(await ask(method, path.replace("nightly", "other"), { as: "mails" }), "not_found");
      expectProblem(await ask(method, path.replace("%40", ""), { as: "mails" }), "invalid_request");
    }
    expect((await ask("GET", at)).body).toMatchObject({ counts: { pending: 1, blocked: 1 } });
  });
});

describe("a blocked task", () => {
  const chain = (then: object = {}) => [
    { ref: "a", queue: "mails-a", payload: 1 },
    { ref: "b", queue: "mails-a", payload: 2, after: "a", ...then },
  ];

  it("is counted, listed and measured in a state of its own, and does not alarm", async () => {
    // An instance remembers by its transport which queues are registered.
    const other = served.asking({ transport: { ...served.transport } });
    const { tasks } = (await other("POST", "/v1/flows", { json: { tasks: chain() } })).body;
    const at = "/v1/queues/mails-a";
    const counts = { pending: 1, delayed: 0, blocked: 1 };
    expect((await ask("GET", at)).body).toMatchObject({ ...counts, nextDueAt: null });
    expect((await ask("GET", "/v1/overview?queues=mails-a")).body.queues[0]).toMatchObject(counts);
    expect((await ask("GET", `${at}/partitions`)).body.partitions[0]).toMatchObject(counts);
    const listed = (await ask("GET", `${at}/tasks?state=blocked&payloads=true`)).body;
    expect(listed.tasks).toMatchObject([{ id: tasks.b, state: "blocked", payload: 2 }]);
    expect((await ask("GET", `${at}/tasks?state=delayed`)).body.tasks).toEqual([]);
    expect((await ask("GET", "/metrics")).body).toContain(
      'sluice_queue_tasks{queue="mails-a",state="blocked"} 1',
    );
    const health = (await ask("GET", "/v1/health/queues?queues=mails-*")).body;
    expect(health.findings.filter(({ queue }: { queue?: string }) => queue === "mails-a")).toEqual([]);
  });

  it("is followed until it is ready, and cancelled as any other", async () => {
    const { tasks } = (await add({ tasks: chain() })).body;
    const at = `/v1/queues/mails-a/tasks`;
    const b = `${at}/${encodeURIComponent(tasks.b)}`;
    expect((await ask("GET", b)).body).toMatchObject({ state: "blocked" });
    const headers = { accept: "text/event-stream" };
    expect((await ask("GET", `${b}?wait=1`, { headers })).body).toContain('"to":"blocked"');
    const [{ receipt }] = await pulled("mails-a");
    await ask("POST", `${at}/settle`, { json: { settlements: [{ receipt, outcome: "complete" }] } });
    expect((await ask("GET", b)).body).toMatchObject({ state: "pending" });
    expect((await ask("POST", `${b}/cancel`)).body).toEqual({ id: tasks.b, state: "rejected" });
  });

  it("falls with the task that it waits for, and is purged", async () => {
    const { tasks } = (await add({ tasks: chain() })).body;
    const at = `/v1/queues/mails-a/tasks`;
    const [{ receipt }] = await pulled("mails-a");
    await ask("POST", `${at}/settle`, { json: { settlements: [{ receipt, outcome: "reject" }] } });
    const fallen = (await ask("GET", `${at}/${encodeURIComponent(tasks.b)}`)).body;
    expect(fallen).toMatchObject({ state: "rejected", reason: "dependency_failed" });
    await add({ tasks: chain() });
    expect((await ask("POST", "/v1/queues/mails-a/purge", { json: { state: "blocked" } })).body.purged).toBe(
      1,
    );
  });
});
