import { describe, expect, it } from "vitest";
import { expectProblem, servedQueue } from "./served.ts";

const { ask, path, tasks, enqueue, pull, settle, get, counts, receipts } = servedQueue();

const list = (query: string) => ask("GET", `${tasks()}?${query}`);
const redrive = (json?: unknown) => ask("POST", `${path()}/redrive`, { json });
const purge = (json?: unknown) => ask("POST", `${path()}/purge`, { json });
const remove = (id: string) => ask("DELETE", `${tasks()}/${encodeURIComponent(id)}`);
const named = (...ids: string[]) => ids.map((id) => ({ id, payload: id }));
const idsOf = (page: { tasks: { id: string }[] }) => page.tasks.map(({ id }) => id);

/** Makes dead letters, each with its error: of tasks that fail on their only attempt, or that are rejected. */
async function kill(
  errors: Readonly<Record<string, unknown>>,
  { outcome = "requeue", ...options }: { outcome?: "requeue" | "reject"; group?: string } = {},
): Promise<void> {
  const tasks = named(...Object.keys(errors)).map((task) => ({ ...task, maxAttempts: 1, ...options }));
  await enqueue({ tasks });
  const { tasks: pulled } = (await pull({ max: 100 })).body;
  const settlements = pulled.map(({ id, receipt }: { id: string; receipt: string }) => ({
    receipt,
    outcome,
    error: errors[id],
  }));
  await settle(...settlements);
}

describe("the tasks of a queue", () => {
  it("are listed by state, in order, each as a get shows it", async () => {
    await enqueue({ tasks: [...named("a", "b", "c"), { id: "later", payload: 1, delay: "1h" }] });
    const [a] = await receipts();
    await settle({ receipt: a, outcome: "complete", result: { sent: true } });
    await pull();
    const page = async (state: string) => (await list(`state=${state}`)).body;
    for (const [state, ids] of Object.entries({
      completed: ["a"],
      working: ["b"],
      pending: ["c"],
      delayed: ["later"],
      rejected: [],
    })) {
      const found = await page(state);
      expect(found).toMatchObject({ cursor: null, unreadable: 0 });
      expect([state, idsOf(found)]).toEqual([state, ids]);
      for (const task of found.tasks) expect(task).toEqual((await get(task.id)).body);
    }
  });

  it("are peeked at with their payloads, and none is leased", async () => {
    await enqueue({
      tasks: [
        { id: "json", payload: { to: "a@example.com" }, headers: { trace: "t" }, group: "g" },
        { id: "bytes", payload: "AAEC/w==", encoding: "base64", group: "g" },
        { id: "null", payload: null, group: "g" },
      ],
    });
    const { status, body } = await list("state=pending&size=10&payloads=true");
    expect(status).toBe(200);
    expect(body.tasks).toMatchObject([
      { id: "json", payload: { to: "a@example.com" }, headers: { trace: "t" }, group: "g" },
      { id: "bytes", payload: "AAEC/w==", payloadEncoding: "base64" },
      { id: "null", payload: null },
    ]);
    expect(await counts()).toMatchObject({ pending: 3, working: 0 });
    const bare = (await list("state=pending&payloads=false")).body.tasks;
    for (const task of bare) expect(Object.keys(task)).not.toContain("payload");
  });

  it("come by pages, each task once, whatever characters its id has", async () => {
    const ids = Array.from({ length: 25 }, (_, i) => `t${String(i).padStart(2, "0")};%&#?`);
    await enqueue({ tasks: named(...ids) });
    const found: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const behind: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await list(`state=pending&size=10${behind}`);
      expect(body.tasks.length).toBeLessThanOrEqual(10);
      found.push(...idsOf(body));
      cursor = body.cursor;
    }
    expect(found).toEqual(ids);
  });

  it("are searched by the text of their error, group, reason and times", async () => {
    const before = Date.now() - 1_000;
    const outcome = "reject";
    await kill({ a: "503 from “the receiver”", b: { status: 503 } }, { group: "x;1", outcome });
    await kill({ c: "no such address", d: 503 }, { outcome });
    await enqueue({ id: "e", payload: 1 });
    await ask("POST", `${tasks()}/e/cancel`);
    const found = async (query: string) => idsOf((await list(`state=rejected&${query}`)).body).toSorted();
    expect(await found("")).toEqual(["a", "b", "c", "d"]);
    expect(await found("text=503")).toEqual(["a", "b", "d"]);
    expect(await found(`text=${encodeURIComponent("“the receiver”")}`)).toEqual(["a"]);
    expect(await found("text=503&group=x%3B1")).toEqual(["a", "b"]);
    expect(await found("reason=cancelled")).toEqual(["e"]);
    expect(await found("reason=attempts_exhausted")).toEqual([]);
    expect(await found("reason=attempts_exhausted,rejected&text=503")).toEqual(["a", "b", "d"]);
    expect(await found("reason=cancelled&text=cancelled")).toEqual(["e"]);
    await kill({ f: undefined }, { outcome });
    expect(await found("text=rejected%20it%20for%20good")).toEqual(["f"]);
    expect(await found("reason=rejected&text=503")).toEqual(["a", "b", "d"]);
    expect((await remove("f")).status).toBe(200);
    expect(await found(`endedSince=${before}&enqueuedSince=${before}`)).toEqual(["a", "b", "c", "d"]);
    expect(await found(`endedUntil=${before}`)).toEqual([]);
    expect(await found(`enqueuedUntil=${before}`)).toEqual([]);
  });

  it.each([
    ["state", ""],
    ["state", "state=dead"],
    ["state", "state=pending&state=working"],
    ["cursor", "state=pending&cursor=x"],
    ["cursor", "state=pending&cursor="],
    ["size", "state=pending&size=1001"],
    ["size", "state=pending&size=-1"],
    ["payloads", "state=pending&payloads=yes"],
    ["text", "state=rejected&text="],
    ["text", `state=rejected&text=${"x".repeat(1_001)}`],
    ["group", "state=pending&group=a%20b"],
    ["reason", "state=rejected&reason=tired"],
    ["reason", "state=rejected&reason=rejected,tired"],
    ["reason", "state=rejected&reason="],
    ["reason", "state=rejected&reason=rejected,cancelled"],
    ["endedSince", "state=rejected&endedSince=yesterday"],
    ["endedUntil", "state=rejected&endedUntil=1.5"],
    ["enqueuedSince", "state=rejected&enqueuedSince=8640000000000001"],
    ["enqueuedUntil", "state=rejected&enqueuedUntil="],
    ["since", "state=rejected&since=1"],
  ])("are not listed with a bad %s: %s", async (parameter, query) => {
    const { errors } = expectProblem(await list(query), "invalid_request");
    expect(errors).toEqual([{ path: parameter, message: expect.any(String) }]);
  });
});

describe("deleting a task", () => {
  it("that has ended takes its record; a second DELETE is answered as the first", async () => {
    const id = "a/b?%41;";
    await enqueue({ id, payload: 1 });
    const [receipt] = await receipts();
    await settle({ receipt, outcome: "complete", result: "kept" });
    for (let copy = 0; copy < 2; copy++) {
      const { status, body } = await remove(id);
      expect([status, body]).toEqual([200, { id, deleted: true }]);
    }
    expectProblem(await get(id), "not_found");
    expect((await enqueue({ id, payload: 1 })).body).toEqual({ id, created: false });
  });

  it("that is a dead letter takes it off them", async () => {
    await kill({ a: "x", b: "y" });
    expect((await remove("a")).status).toBe(200);
    expect(idsOf((await list("state=rejected")).body)).toEqual(["b"]);
    expect((await counts()).rejected).toBe(1);
  });

  it("that lives is refused, and changes nothing", async () => {
    await enqueue({ tasks: [...named("working", "pending"), { id: "delayed", payload: 1, delay: "1h" }] });
    await pull();
    for (const id of ["working", "pending", "delayed"]) {
      const before = (await get(id)).body;
      expectProblem(await remove(id), "alive");
      expect((await get(id)).body).toEqual(before);
      expect(before.state).toBe(id);
    }
  });

  it("that does not exist answers not found", async () => {
    expectProblem(await remove("missing"), "not_found");
  });

  it("needs an id", async () => {
    const { errors } = expectProblem(await ask("DELETE", `${tasks()}/%20x`), "invalid_request");
    expect(errors).toEqual([{ path: "id", message: expect.stringMatching(/^must be 1 to 128/) }]);
  });
});

describe("redriving", () => {
  it("by ids makes them pending again, and says which not; a copy does no more", async () => {
    await kill({ a: "x", b: "x", c: "x" });
    await enqueue({ id: "alive", payload: 1, delay: "1h" });
    const lease = (await get("b")).body.lease;
    const ids = ["a", { id: "b", lease }, { id: "c", lease: 99 }, "alive", "missing"];
    const report = {
      redriven: 2,
      refused: [
        { id: "c", code: "lease_lost" },
        { id: "alive", code: "not_dead_letter" },
        { id: "missing", code: "not_found" },
      ],
      cursor: null,
      unreadable: 0,
    };
    for (let copy = 0; copy < 2; copy++) {
      const { status, body } = await redrive({ ids });
      expect([status, body]).toEqual([200, report]);
    }
    expect(await counts()).toMatchObject({ pending: 2, rejected: 1 });
    expect((await get("a")).body).toMatchObject({ state: "pending", attempt: 1, charged: 0 });
  });

  it("by filter can be tried with a dry run first", async () => {
    await kill({ a: "503", b: "404", c: "503 again" });
    expect((await redrive({ text: "503", dryRun: true })).body).toMatchObject({ redriven: 2 });
    expect(await counts()).toMatchObject({ pending: 0, rejected: 3 });
    expect((await redrive({ text: "503" })).body).toMatchObject({ redriven: 2, cursor: null });
    expect(idsOf((await list("state=pending")).body)).toEqual(["a", "c"]);
    expect(idsOf((await list("state=rejected")).body)).toEqual(["b"]);
  });

  it("of all takes {}, but leaves what a consumer rejected for good, except by its reason", async () => {
    await kill({ a: 1, b: 2 }, { outcome: "reject" });
    await kill({ c: 3 });
    expect((await redrive({})).body).toMatchObject({ redriven: 1, cursor: null });
    expect(idsOf((await list("state=pending")).body)).toEqual(["c"]);
    const reason = ["rejected", "attempts_exhausted"];
    expect((await redrive({ reason, dryRun: true })).body).toMatchObject({ redriven: 2 });
    expect((await redrive({ reason: "cancelled" })).body).toMatchObject({ redriven: 0 });
    expect((await redrive({ reason: "rejected" })).body).toMatchObject({ redriven: 2, cursor: null });
  });

  it("with a rate delays the later ones", async () => {
    await kill({ a: 1, b: 2, c: 3 });
    expect((await redrive({})).body).toMatchObject({ redriven: 3, cursor: null });
    await kill({ d: 1 });
    expect((await redrive({ rate: 0.01 })).body).toMatchObject({ redriven: 4, cursor: null });
    expect(await counts()).toMatchObject({ pending: 1, delayed: 3, rejected: 0 });
  });

  it("stops at its limit, and goes on with the cursor", async () => {
    await kill({ a: 1, b: 2, c: 3 });
    const first = (await redrive({ limit: 2 })).body;
    expect(first).toMatchObject({ redriven: 2, cursor: expect.any(String) });
    const { body } = await redrive({ cursor: first.cursor });
    expect(body).toMatchObject({ redriven: 1, cursor: null });
    expect((await counts()).pending).toBe(3);
  });

  it.each([
    ["", undefined],
    ["ids", { ids: "a" }],
    ["ids", { ids: Array.from({ length: 1_001 }, (_, i) => `t${i}`) }],
    ["ids[1]", { ids: ["a", 5] }],
    ["ids[0]", { ids: [" a"] }],
    ["ids[0].lease", { ids: [{ id: "a", lease: -1 }] }],
    ["ids", { ids: ["a"], text: "x" }],
    ["ids", { ids: ["a"], limit: 1 }],
    ["rate", { rate: 0 }],
    ["rate", { rate: "fast" }],
    ["limit", { limit: 0 }],
    ["cursor", { cursor: "x" }],
    ["budget", { budget: "2m" }],
    ["dryRun", { dryRun: 1 }],
    ["endedSince", { endedSince: "1" }],
    ["reason", { reason: "tired" }],
    ["reason", { reason: ["rejected", "tired"] }],
    ["reason", { reason: [] }],
    ["reason", { reason: ["cancelled", "rejected"] }],
    ["filter", { filter: {} }],
  ])("names the invalid field %j", async (field, json) => {
    await kill({ a: 1 });
    const { errors } = expectProblem(await redrive(json), "invalid_request");
    expect(errors).toEqual([{ path: field, message: expect.any(String) }]);
    expect((await counts()).rejected).toBe(1);
  });
});

describe("purging", () => {
  it("cancels waiting tasks, and removes the records of ended ones", async () => {
    await kill({ dead: "x" });
    await enqueue({ tasks: [...named("working", "a", "b"), { id: "later", payload: 1, delay: "1h" }] });
    await pull();
    const { status, body } = await purge({ state: "pending" });
    expect([status, body]).toEqual([200, { purged: 2, cursor: null, unreadable: 0 }]);
    expect((await get("a")).body).toMatchObject({ state: "rejected", reason: "cancelled" });
    expect((await purge({ state: "delayed" })).body.purged).toBe(1);
    expect((await purge({ state: "rejected" })).body.purged).toBe(1);
    expectProblem(await get("dead"), "not_found");
    expect(await counts()).toMatchObject({ pending: 0, delayed: 0, working: 1, rejected: 0 });
  });

  it("removes only tasks that match the filter, and goes on with the cursor", async () => {
    await enqueue({ tasks: named("a", "b", "c").map((task) => ({ ...task, group: "x" })) });
    await enqueue({ tasks: [{ id: "other", payload: 1, group: "y" }] });
    const first = (await purge({ state: "pending", group: "x", limit: 2 })).body;
    expect(first).toMatchObject({ purged: 2, cursor: expect.any(String) });
    const json = { state: "pending", group: "x", cursor: first.cursor };
    expect((await purge(json)).body).toMatchObject({ purged: 1, cursor: null });
    expect(idsOf((await list("state=pending")).body)).toEqual(["other"]);
  });

  it.each([
    ["", undefined],
    ["state", {}],
    ["state", { state: "working" }],
    ["group", { state: "pending", text: "x" }],
    ["limit", { state: "rejected", limit: 1.5 }],
    ["cursor", { state: "rejected", cursor: "1" }],
    ["budget", { state: "rejected", budget: 0 }],
    ["ids", { state: "rejected", ids: ["a"] }],
  ])("names the invalid field %j: %j", async (field, json) => {
    await kill({ a: 1 });
    const { errors } = expectProblem(await purge(json), "invalid_request");
    expect(errors).toEqual([{ path: field, message: expect.any(String) }]);
    expect((await counts()).rejected).toBe(1);
  });
});
