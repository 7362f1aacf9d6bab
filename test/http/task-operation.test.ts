import { describe, expect, it } from "vitest";
import { expectProblem, servedQueue } from "./served.ts";

// What the requests and answers have beside what the library takes and returns: test/model calls over HTTP too.

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
  it("are listed by state, each as a get shows it", async () => {
    await enqueue({ tasks: [...named("a", "b", "c"), { id: "later", payload: 1, delay: "1h" }] });
    await settle({ receipt: (await receipts())[0], outcome: "complete", result: { sent: true } });
    await pull();
    const states = { completed: ["a"], working: ["b"], pending: ["c"], delayed: ["later"], rejected: [] };
    for (const [state, ids] of Object.entries(states)) {
      const { status, body } = await list(`state=${state}`);
      const own = await Promise.all(ids.map(async (id) => (await get(id)).body));
      expect([status, body]).toEqual([200, { tasks: own, cursor: null, unreadable: 0 }]);
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
    expect((await list("state=pending&size=10&payloads=true")).body.tasks).toMatchObject([
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
    const pages: string[][] = [];
    for (let query = "state=pending&size=10"; query !== "";) {
      const { body } = await list(query);
      pages.push(idsOf(body));
      const next = encodeURIComponent(body.cursor);
      query = body.cursor === null ? "" : `state=pending&size=10&cursor=${next}`;
    }
    expect(pages).toEqual([ids.slice(0, 10), ids.slice(10, 20), ids.slice(20)]);
  });

  it("are searched by the text of their error, group, reason and times", async () => {
    const before = Date.now() - 1_000;
    const outcome = "reject";
    await kill({ a: "503 from “the receiver”", b: { status: 503 } }, { group: "x;1", outcome });
    await kill({ c: "no such address", d: 503 }, { outcome });
    await enqueue({ id: "e", payload: 1 });
    await ask("POST", `${tasks()}/e/cancel`);
    const found = async (query: string) => idsOf((await list(`state=rejected&${query}`)).body).toSorted();
    for (const [query, ids] of Object.entries({
      "": ["a", "b", "c", "d"],
      "text=503": ["a", "b", "d"],
      [`text=${encodeURIComponent("“the receiver”")}`]: ["a"],
      "text=503&group=x%3B1": ["a", "b"],
      "reason=cancelled": ["e"],
      "reason=attempts_exhausted": [],
      "reason=attempts_exhausted,rejected&text=503": ["a", "b", "d"],
      "reason=cancelled&text=cancelled": ["e"],
      "reason=rejected&text=503": ["a", "b", "d"],
      [`endedSince=${before}&enqueuedSince=${before}`]: ["a", "b", "c", "d"],
      [`endedUntil=${before}`]: [],
      [`enqueuedUntil=${before}`]: [],
    }))
      expect([query, await found(query)]).toEqual([query, ids]);
    await kill({ f: undefined }, { outcome });
    expect(await found("text=rejected%20it%20for%20good")).toEqual(["f"]);
  });
});

describe("deleting a task", () => {
  it("that has ended takes its record, also of a dead letter; a second DELETE is answered as the first", async () => {
    const id = "a/b?%41;";
    await enqueue({ id, payload: 1 });
    await settle({ receipt: (await receipts())[0], outcome: "complete", result: "kept" });
    for (let copy = 0; copy < 2; copy++) {
      const { status, body } = await remove(id);
      expect([status, body]).toEqual([200, { id, deleted: true }]);
    }
    expectProblem(await get(id), "not_found");
    expect((await enqueue({ id, payload: 1 })).body).toEqual({ id, created: false });
    await kill({ a: "x", b: "y" });
    expect((await remove("a")).status).toBe(200);
    expect(idsOf((await list("state=rejected")).body)).toEqual(["b"]);
    expectProblem(await remove("missing"), "not_found");
  });

  it("that lives is refused, and changes nothing", async () => {
    await enqueue({ tasks: [...named("working", "pending"), { id: "delayed", payload: 1, delay: "1h" }] });
    await pull();
    for (const id of ["working", "pending", "delayed"]) {
      const before = (await get(id)).body;
      expectProblem(await remove(id), "alive");
      expect([before.state, (await get(id)).body]).toEqual([id, before]);
    }
  });
});

describe("redriving", () => {
  it("by ids makes them pending again, and says which not; a copy does no more", async () => {
    await kill({ a: "x", b: "x", c: "x" });
    await enqueue({ id: "alive", payload: 1, delay: "1h" });
    const lease = (await get("b")).body.lease;
    const ids = ["a", { id: "b", lease }, { id: "c", lease: 99 }, "alive", "missing"];
    const refused = [
      { id: "c", code: "lease_lost" },
      { id: "alive", code: "not_dead_letter" },
      { id: "missing", code: "not_found" },
    ];
    for (let copy = 0; copy < 2; copy++) {
      const { status, body } = await redrive({ ids });
      expect([status, body]).toEqual([200, { redriven: 2, refused, cursor: null, unreadable: 0 }]);
    }
    expect(await counts()).toMatchObject({ pending: 2, rejected: 1 });
  });

  it("by filter can be tried with a dry run first, and leaves what a consumer rejected for good, except by its reason", async () => {
    await kill({ a: "503", b: "404", c: "503 again" });
    await kill({ d: "503" }, { outcome: "reject" });
    for (const dryRun of [true, false]) {
      expect((await redrive({ text: "503", dryRun })).body).toMatchObject({ redriven: 2, cursor: null });
      expect((await counts()).rejected).toBe(dryRun ? 4 : 2);
    }
    expect(idsOf((await list("state=pending")).body)).toEqual(["a", "c"]);
    const reason = ["rejected", "attempts_exhausted"];
    expect((await redrive({ reason, dryRun: true })).body).toMatchObject({ redriven: 2 });
    expect((await redrive({ reason: "cancelled" })).body).toMatchObject({ redriven: 0 });
    expect((await redrive({})).body).toMatchObject({ redriven: 1 });
    expect((await redrive({ reason: "rejected" })).body).toMatchObject({ redriven: 1 });
  });

  it("with a rate delays the later ones; stops at its limit, and goes on with the cursor", async () => {
    await kill({ a: 1, b: 2, c: 3 });
    const first = (await redrive({ limit: 2, rate: 0.01 })).body;
    expect(first).toMatchObject({ redriven: 2, cursor: expect.any(String) });
    expect(await counts()).toMatchObject({ pending: 1, delayed: 1, rejected: 1 });
    expect((await redrive({ cursor: first.cursor })).body).toMatchObject({ redriven: 1, cursor: null });
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
    const group = "x";
    await enqueue({
      tasks: [...named("a", "b", "c").map((task) => ({ ...task, group })), ...named("other")],
    });
    const first = (await purge({ state: "pending", group, limit: 2 })).body;
    expect(first).toMatchObject({ purged: 2, cursor: expect.any(String) });
    const rest = await purge({ state: "pending", group, cursor: first.cursor });
    expect(rest.body).toMatchObject({ purged: 1, cursor: null });
    expect(idsOf((await list("state=pending")).body)).toEqual(["other"]);
  });
});
