import { describe, expect, it } from "vitest";
import { createClient } from "../../../src/client/index.ts";
import { withDebounce } from "../../../src/features/debounce/index.ts";
import { servedQueue } from "../../http/served.ts";

// What enqueues with keys have over HTTP.

const { ask, queue, enqueue, pull, get, counts } = servedQueue();
const debounce = { key: "page-7", wait: "1h" };

describe("over HTTP", () => {
  it("answers 201 with what was done for a new task, and 200 for one that waits", async () => {
    const first = await enqueue({ payload: 1, debounce });
    const { id } = first.body;
    expect([first.status, first.body]).toEqual([201, { id, created: true, outcome: "created" }]);
    const second = await enqueue({ payload: 2, debounce, headers: { a: "b" } });
    expect([second.status, second.body]).toEqual([200, { id, created: false, outcome: "replaced" }]);
    expect(second.headers.get("location")).toBe(`tasks/${id}`);
    expect((await get(id)).body).toMatchObject({ state: "delayed", headers: { a: "b" } });
    const list = await enqueue({ payload: 3, debounce: { ...debounce, keep: "all" } });
    expect(list.body).toEqual({ id, created: false, outcome: "appended" });
  });

  it("throttles, keeps singletons, and replaces by an id", async () => {
    const throttle = { key: "a", most: 1, per: "1h" };
    expect((await enqueue({ payload: 1, throttle })).body.outcome).toBe("created");
    expect((await enqueue({ payload: 2, throttle })).body.outcome).toBe("dropped");
    const singleton = { key: "a", while: "unfinished", then: "replace" };
    expect((await enqueue({ payload: 3, singleton })).body.outcome).toBe("created");
    expect((await enqueue({ payload: 4, singleton })).body.outcome).toBe("replaced");
    expect((await enqueue({ payload: 5, id: "a" })).body).toEqual({ id: "a", created: true });
    const replaced = { id: "a", created: false, outcome: "replaced" };
    expect((await enqueue({ payload: 6, id: "a", replace: true })).body).toEqual(replaced);
    expect((await enqueue({ payload: 7, id: "a", replace: false })).body).toMatchObject({
      outcome: "dropped",
    });
    const { tasks } = (await pull({ max: 10 })).body;
    expect(tasks.map(({ payload }: { payload: unknown }) => payload)).toEqual([1, 4, 6]);
  });

  it("gives the same answer to a resend with the same Idempotency-Key", async () => {
    const key = { "idempotency-key": "k2" };
    await enqueue({ payload: 1, debounce });
    const first = await enqueue({ payload: 2, debounce }, key);
    await enqueue({ payload: 3, debounce });
    const again = await enqueue({ payload: 2, debounce }, key);
    expect([again.status, again.body]).toEqual([first.status, first.body]);
    expect((await counts()).delayed).toBe(1);
  });

  it("forgets a key", async () => {
    await enqueue({ payload: 1, debounce });
    const path = `/v1/queues/${queue()}/keys/page-7`;
    expect((await ask("DELETE", path)).body).toEqual({ key: "page-7", known: true });
    expect((await ask("DELETE", path)).body).toEqual({ key: "page-7", known: false });
    expect((await enqueue({ payload: 2, debounce })).body.outcome).toBe("created");
  });

  it("refuses a payload that a client has encrypted, if it may replace another one", async () => {
    const sealed = Buffer.concat([Buffer.from([0]), Buffer.from("SLUICE"), Buffer.from([1, 112])]);
    const json = { payload: sealed.toString("base64"), encoding: "base64" };
    const refused = await enqueue({ ...json, debounce });
    expect([refused.status, refused.body.errors[0].path]).toEqual([400, "debounce.keep"]);
    expect((await enqueue({ ...json, debounce: { ...debounce, keep: "first" } })).status).toBe(201);
  });

  it("takes them from one task alone", async () => {
    const refused = await enqueue({ tasks: [{ payload: 1, debounce }] });
    expect([refused.status, refused.body.errors[0].path]).toEqual([400, "tasks[0].debounce"]);
  });
});

it("a client passes the options on, returns what was done, and forgets keys", async () => {
  const client = createClient({
    url: "https://sluice.test",
    token: "all-0123456789abcdef",
    fetch: async (url: string | URL | Request, init?: RequestInit) => {
      const { pathname } = new URL(url instanceof Request ? url.url : url);
      const body: unknown = typeof init?.body === "string" ? JSON.parse(init.body) : undefined;
      const answer = await ask(init?.method ?? "GET", pathname, { json: body });
      return Response.json(answer.body, { status: answer.status });
    },
  });
  const pages = withDebounce(client.queue<number>(queue()));
  const { id } = await pages.enqueue(1, { debounce: { key: "c", wait: "1h" } });
  expect(await pages.enqueue(2, { debounce: { key: "c", wait: "1h" } })).toEqual({
    id,
    created: false,
    outcome: "replaced",
  });
  expect(await pages.forgetKey("c")).toBe(true);
  expect(await pages.forgetKey("c")).toBe(false);
  const next = await pages.enqueue(3, { debounce: { key: "c", wait: "1h" } });
  expect(next).toMatchObject({ outcome: "created" });
  await expect(pages.forgetKey("")).rejects.toMatchObject({ code: "invalid_argument", path: "key" });
});
