import { describe, expect, it } from "vitest";
import { queueSpace, readKeySpace } from "../support/key-space.ts";
import { servedQueue } from "./served.ts";

// What a task's requests and answers have beside what the library takes and returns: test/proofs/model calls over HTTP too.

const { ask, queue, redis, tasks, enqueue, pull, settle, get, counts, receipts } = servedQueue();

describe("enqueue", () => {
  it("answers 201 with the id and the task's location, and 200 for a known id, a known dedup key or a unique id", async () => {
    const first = await enqueue({ payload: 1, id: "one", unique: "24h", headers: { trace: "t" } });
    expect([first.status, first.body]).toEqual([201, { id: "one", created: true }]);
    expect(first.headers.get("location")).toBe("tasks/one");
    const again = await enqueue({ payload: 2, id: "one" });
    expect([again.status, again.body]).toEqual([200, { id: "one", created: false }]);
    const dedup = { key: "report-7", window: "1h" };
    const { body } = await enqueue({ payload: 1, dedup });
    expect(body).toEqual({ id: expect.stringMatching(/^[0-9A-Za-z]{1,22}$/), created: true });
    const same = await enqueue({ payload: 2, dedup, id: "mine" });
    expect([same.status, same.body]).toEqual([200, { id: body.id, created: false }]);
    expect(same.headers.get("location")).toBe(`tasks/${body.id}`);
    const { tasks: fields } = queueSpace(await readKeySpace(redis().url), queue());
    expect(fields.get("one")).toContain(";U=86400000;");
  });

  it("takes up to 1,000 tasks, each with options of its own: 201 if one of them is new, 200 if none is", async () => {
    await enqueue({ payload: 0, id: "b" });
    const at = Date.now() + 3_600_000;
    const headers = { trace: "t", constructor: "c" };
    const [b, c] = [
      { payload: "b", id: "b" },
      { payload: "c", id: "c", at, headers },
    ];
    const { status, body } = await enqueue({ tasks: [b, c] });
    const [known, added] = [
      { id: "b", created: false },
      { id: "c", created: true },
    ];
    expect([status, body]).toEqual([201, { tasks: [known, added] }]);
    expect((await get("c")).body).toMatchObject({ state: "delayed", dueAt: at, headers });
    expect((await enqueue({ tasks: [b, c] })).status).toBe(200);
    const many = Array.from({ length: 1_000 }, (_, payload) => ({ payload }));
    expect((await enqueue({ tasks: many })).body.tasks).toHaveLength(1_000);
  });

  it("gives the same answer to a resend with the same Idempotency-Key, and adds nothing", async () => {
    const key = { "idempotency-key": "order-42" };
    const json = { tasks: [{ payload: 1 }, { payload: 2, id: "mine" }] };
    const first = await enqueue(json, key);
    const again = await enqueue(json, key);
    expect([again.status, again.body, (await counts()).pending]).toEqual([201, first.body, 2]);
  });
});

describe("pull", () => {
  it("gives a resend with the same token or Idempotency-Key the same tasks; without either a resend is a new request", async () => {
    await enqueue({ tasks: [1, 2, 3, 4].map((payload) => ({ payload })) });
    for (const [json, headers] of [
      [{ token: "q7XnRk2ZtB0aVd9L" }, {}],
      [{}, { "idempotency-key": "pull-1" }],
    ]) {
      const first = await pull(json, headers);
      expect((await pull(json, headers)).body.tasks).toEqual(first.body.tasks);
    }
    for (const payload of [3, 4]) expect((await pull()).body.tasks).toMatchObject([{ payload }]);
  });
});

describe("a task", () => {
  it("is shown with its payload and options only if asked, while it is kept", async () => {
    const headers = { trace: "t" };
    const json = { id: "json", payload: { to: "a" }, maxAttempts: 3, lease: "1m", headers };
    const bytes = { id: "bytes", payload: "AAEC/w==", encoding: "base64" };
    await enqueue({ tasks: [json, bytes, { id: "null", payload: null }] });
    const read = async (id: string, query = "?payload=true") =>
      (await ask("GET", `${tasks()}/${id}${query}`)).body;
    const zeros = { attempt: 0, charged: 0, lease: 0, requeues: 0, errors: [], transitions: [] };
    const pending = { id: "json", queue: queue(), state: "pending", version: 1, ...zeros, headers };
    const options = { maxAttempts: 3, lease: 60_000 };
    expect(await read("json", "")).toEqual({ ...pending, options, enqueuedAt: expect.any(Number) });
    expect(await read("json", "?payload=false")).not.toHaveProperty("payload");
    expect(await read("json")).toMatchObject({ payload: { to: "a" }, headers });
    expect(await read("bytes")).toMatchObject({ payload: "AAEC/w==", payloadEncoding: "base64" });
    expect(await read("null", "?payload=true&wait=10ms")).toMatchObject({ payload: null });
    await settle({ receipt: (await receipts())[0], outcome: "complete" });
    expect(await read("json")).not.toHaveProperty("payload");
  });

  it("may have an id that has to be percent-encoded", async () => {
    const id = "a/b?c#d%41&;e";
    const { headers } = await enqueue({ id, payload: 1 });
    expect(headers.get("location")).toBe(`tasks/${encodeURIComponent(id)}`);
    expect((await get(id)).body.id).toBe(id);
    const cancelled = await ask("POST", `${tasks()}/${encodeURIComponent(id)}/cancel`);
    expect([cancelled.status, cancelled.body]).toEqual([200, { id, state: "rejected" }]);
  });
});
