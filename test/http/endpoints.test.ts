import { beforeEach, describe, expect, it } from "vitest";
import { expectProblem, useServed } from "./served.ts";

// The routes of endpoints. What endpoints do is in test/features/endpoints.

const served = useServed();
const { ask } = served;
beforeEach(async () => {
  await served.transport.send([["FLUSHALL"]]);
});

const path = "/v1/endpoints";
const url = "https://acme.example/hooks";
const add = (json: object = {}) => ask("POST", path, { json: { id: "acme", url, ...json } });

describe("an endpoint over HTTP", () => {
  it("is added, and its secret is shown this once", async () => {
    const { status, headers, body } = await add({ headers: { authorization: "Basic hidden" } });
    expect([status, headers.get("location")]).toEqual([201, "endpoints/acme"]);
    const { secret, created, ...endpoint } = body;
    expect(created).toBe(true);
    expect(endpoint).toMatchObject({ id: "acme", url, state: "active", headers: ["authorization"] });
    expect(endpoint.secrets).toEqual([{ endsWith: secret.slice(-4), validUntil: null }]);
    const shown = await Promise.all([ask("GET", path), ask("GET", `${path}/acme`)]);
    expect(shown.map((answer) => answer.body)).toEqual([
      { queue: "bills", endpoints: [endpoint], cursor: null },
      endpoint,
    ]);
    expect(JSON.stringify(shown)).not.toContain("hidden");
    const again = await add();
    expect([again.status, again.body]).toEqual([200, { ...endpoint, created: false }]);
  });

  it("is changed, disabled, enabled and removed", async () => {
    await add();
    const change = { rate: { most: 5, per: "1s" }, types: ["a.#"] };
    expect((await ask("PATCH", `${path}/acme`, { json: change })).body).toMatchObject({
      rate: { most: 5, per: 1_000 },
      types: ["a.#"],
    });
    expect((await ask("POST", `${path}/acme/disable`)).body).toMatchObject({
      state: "disabled",
      disabledReason: "operator",
    });
    const since = { json: { since: 0 } };
    expectProblem(await ask("POST", `${path}/acme/replay`, since), "invalid_request");
    expect((await ask("POST", `${path}/acme/enable`)).body).toMatchObject({ state: "active" });
    expect((await ask("POST", `${path}/acme/replay`, since)).body).toEqual({
      replayed: 0,
      cursor: null,
      unreadable: 0,
    });
    expect((await ask("DELETE", `${path}/acme`)).body).toEqual({ id: "acme", removed: true });
    for (const [method, at] of [
      ["GET", ""],
      ["DELETE", ""],
      ["POST", "/disable"],
      ["POST", "/enable"],
      ["POST", "/rotate"],
    ] as const)
      expectProblem(await ask(method, `${path}/acme${at}`), "not_found");
    expectProblem(await ask("PATCH", `${path}/acme`, { json: {} }), "not_found");
    expectProblem(await ask("POST", `${path}/acme/replay`, since), "not_found");
  });

  it("gets another secret", async () => {
    const first = (await add()).body.secret;
    const { body } = await ask("POST", `${path}/acme/rotate`, { json: { keep: "1h" } });
    expect(body.secret).not.toBe(first);
    expect(body.secrets).toEqual([
      { endsWith: body.secret.slice(-4), validUntil: null },
      { endsWith: first.slice(-4), validUntil: expect.any(Number) },
    ]);
    const own = `whsec_${"A".repeat(32)}`;
    expect((await ask("POST", `${path}/acme/rotate`, { json: { secret: own } })).body.secret).toBe(own);
  });

  it("gets events, which are tasks of the queue of the deliveries", async () => {
    await add({ types: ["orders.*"] });
    const send = (json: object) => ask("POST", `${path}/send`, { json });
    const event = { type: "orders.paid", id: "o1", payload: { order: 17 } };
    const sent = await send(event);
    expect([sent.status, sent.body]).toEqual([
      201,
      { id: "o1", deliveries: [{ endpoint: "acme", id: "o1.{acme}", created: true }] },
    ]);
    expect((await send(event)).status).toBe(200);
    await send({ type: "orders.sent", payload: "AAE=", encoding: "base64" });
    expect((await send({ type: "invoices.paid", payload: 1 })).body.deliveries).toEqual([]);
    const { tasks } = (await ask("POST", "/v1/queues/bills/tasks/pull", { json: { max: 5 } })).body;
    expect(tasks).toMatchObject([
      { id: "o1.{acme}", group: "acme", payload: { order: 17 } },
      { group: "acme", payload: "AAE=", encoding: "base64" },
    ]);
  });

  it.each([
    [{ url: "http://10.0.0.1/" }, "url"],
    [{ url: 1 }, "url"],
    [{ id: "a b" }, "id"],
    [{ types: ["a..b"] }, "types[0]"],
    [{ rate: { most: 1 } }, "rate.per"],
    [{ secret: "s" }, "secret"],
    [{ headers: { "content-length": "1" } }, "headers.content-length"],
    [{ other: 1 }, "other"],
  ])("is refused: %j", async (given, at) => {
    const { body } = await add(given);
    expect(body.errors).toEqual([expect.objectContaining({ path: at })]);
  });
});
