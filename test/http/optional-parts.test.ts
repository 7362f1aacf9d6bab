import { describe, expect, test } from "vitest";
import { Hono } from "hono";
import { dashboard } from "../../src/dashboard/index.ts";
import { operations } from "../../src/http/operations/index.ts";
import { docs } from "../../src/http/docs/index.ts";
import { flows } from "../../src/http/flows/index.ts";
import { flowRoutes } from "../../src/http/routes/flows.ts";
import { deepSweep } from "../../src/open/deep-sweep/index.ts";
import { asker, expectProblem, useServed } from "./served.ts";

const served = useServed();
const off = { docs: undefined, deepSweep: undefined };

describe("an app without the documentation", () => {
  test("says at its paths how to turn it on, and answers / as any unknown path", async () => {
    const ask = served.asking(off);
    for (const path of ["/docs", "/openapi.json"]) {
      const answer = await ask("GET", path, { as: null });
      expectProblem(answer, "no_route");
      expect(answer.body.detail).toContain('`import { docs } from "sluice-queue/docs"`');
    }
    expect((await ask("GET", "/", { as: null })).body).toEqual(
      (await ask("GET", "/nothing", { as: null })).body,
    );
    expectProblem(await ask("POST", "/docs", { as: null }), "method_not_allowed");
  });

  test("redirects / to the dashboard, if it has that", async () => {
    const at = async (more: object) => (await served.asking(more)("GET", "/")).headers.get("location");
    expect(await at({ ...off, dashboard })).toBe("dashboard");
    expect(await at({ docs, dashboard })).toBe("dashboard");
  });
});

test("the documentation is loaded at the first request to it", async () => {
  let loads = 0;
  const ask = served.asking({ docs: async () => (loads++, docs) });
  await ask("GET", "/health");
  expect(loads).toBe(0);
  expect((await ask("GET", "/openapi.json", { as: null })).body).toEqual(docs.openapi);
  expect(loads).toBe(1);
});

describe("an app without the routes of operators", () => {
  const alone = { ...off, operations: undefined };

  test("says how to turn them on, and serves producers and consumers", async () => {
    const ask = served.asking(alone);
    const hint = '`import { operations } from "sluice-queue/operations"`';
    for (const path of ["/v1/queues", "/v1/queues/plain", "/v1/health/queues", "/metrics"]) {
      const answer = await ask("GET", path);
      expectProblem(answer, "no_route");
      expect(answer.body.detail).toContain(hint);
    }
    const listed = await ask("GET", "/v1/queues/plain/tasks");
    expectProblem(listed, "method_not_allowed");
    expect(listed.body.detail).toContain(hint);
    expectProblem(await ask("GET", "/nothing"), "no_route");
    const { body } = await ask("POST", "/v1/queues/plain/tasks", { json: { payload: 1, id: "a" } });
    expect(body).toEqual({ id: "a", created: true });
    const worker = { name: "w" };
    const pulled = await ask("POST", "/v1/queues/plain/tasks/pull", { json: { worker } });
    expect(pulled.body.tasks).toMatchObject([{ id: "a" }]);
    const beat = await ask("POST", "/v1/queues/plain/workers/heartbeat", { json: { worker } });
    expect(beat.status).toBe(200);
  });

  test("has them with the dashboard, which calls them", async () => {
    for (const given of [dashboard, async () => dashboard]) {
      const { body } = await served.asking({ ...alone, dashboard: given })("GET", "/v1/queues");
      expect(body).toHaveProperty("queues");
    }
  });

  test("loads them at the first request to them, also below another path", async () => {
    let loads = 0;
    const app = served.make({ ...alone, operations: async () => (loads++, operations) });
    const below = new Hono().route("/internal/queue", app);
    const ask = asker((request) => app.fetch(request));
    await ask("POST", "/v1/queues/plain/tasks", { json: { payload: 1 } });
    expect(loads).toBe(0);
    expect((await ask("GET", "/v1/queues/plain")).body).toMatchObject({ queue: "plain" });
    const askBelow = asker((request) => below.fetch(request));
    expect((await askBelow("GET", "/internal/queue/v1/queues/plain")).body).toMatchObject({
      queue: "plain",
    });
    expect((await ask("PUT", "/v1/queues/plain/tasks")).headers.get("allow")).toBe(
      "GET, HEAD, POST, OPTIONS",
    );
    expectProblem(await ask("GET", "/v1/nothing"), "no_route");
    expect((await ask("GET", "/metrics")).status).toBe(200);
    expect(loads).toBe(1);
  });
});

test("an app without topics does not say that the routes for operators have them", async () => {
  const without = served.asking({ parts: [], operations: undefined });
  const answer = await without("POST", "/v1/topics/orders/publish", { json: { payload: 1 } });
  expect(expectProblem(answer, "no_route").detail).not.toContain("operations");
});

describe("an app without flows", () => {
  const paths = ["/v1/flows", "/v1/flows/f@emails", "/v1/queues/emails/tasks/a/before"];

  test("says how to turn them on", async () => {
    const load = async () => operations;
    for (const given of [{}, { operations: undefined }, { operations: load }]) {
      const ask = served.asking({ ...given, flows: undefined });
      for (const path of paths) {
        const answer = await ask("POST", path, { json: {} });
        expectProblem(answer, "no_route");
        expect(answer.body.detail).toContain('`import { flows } from "sluice-queue/flows"`');
      }
    }
  });

  test("loads their routes at the first request to one of them, also below another path", async () => {
    let loads = 0;
    const routes = async () => (loads++, flowRoutes);
    const app = served.make({ operations: async () => operations, flows: { ...flows, routes } });
    const ask = asker((request) => new Hono().route("/internal", app).fetch(request));
    await ask("GET", "/internal/v1/queues");
    expect(loads).toBe(0);
    for (const path of paths.slice(0, 1))
      expectProblem(await ask("POST", `/internal${path}`, { json: {} }), "invalid_request");
    expect(loads).toBe(1);
  });
});

describe("an app without the deep sweep", () => {
  test("refuses one before anything is swept, and says how to turn it on", async () => {
    const ask = served.asking(off);
    const path = "/v1/queues/emails/tasks";
    await ask("POST", path, { json: { payload: 1, id: "lost" } });
    await served.transport.send([["DEL", "sluice:{emails}:pending"]]);
    const refused = await ask("POST", "/v1/sweep", { json: { deep: true } });
    expectProblem(refused, "unsupported");
    expect(refused.body.detail).toContain('`import { deepSweep } from "sluice-queue/deep-sweep"`');
    expect((await ask("POST", `${path}/pull`)).body.tasks).toEqual([]);
    const swept = await served.asking({ deepSweep })("POST", "/v1/sweep", { json: { deep: true } });
    expect(swept.body.faults).toMatchObject([{ queue: "emails", count: 1, ids: ["lost"] }]);
    expect((await ask("POST", `${path}/pull`)).body.tasks).toMatchObject([{ id: "lost" }]);
  });

  test("does not say in the diagnostics of a queue whether it is valid", async () => {
    const path = "/v1/queues/examined";
    await served.ask("POST", `${path}/tasks`, { json: { payload: 1 } });
    const counts = { queue: "examined", fields: expect.any(Number), bytes: expect.any(Number) };
    const examined = async (more: object) => (await served.asking(more)("GET", `${path}/diagnostics`)).body;
    expect(await examined(off)).toEqual({ ...counts, valid: null, entries: 0 });
    expect(await examined({ deepSweep })).toEqual({ ...counts, valid: true, entries: 2 });
    expect(await examined({ deepSweep: async () => deepSweep })).toEqual(await examined({ deepSweep }));
  });

  test("sweeps as any other", async () => {
    expect((await served.asking(off)("POST", "/v1/sweep")).body).toMatchObject({ failed: [] });
  });
});

test("an app without the strict order sets none, and says what a queue in that order needs", async () => {
  const without = served.asking({ order: undefined, flows: undefined });
  const path = "/v1/queues/ordered";
  const json = { order: "strict" };
  for (const [method, at, body] of [
    ["PATCH", "/settings", json],
    ["PATCH", "/groups/a", json],
    ["PUT", "/declaration", { settings: json }],
  ] as const) {
    const refused = await without(method, path + at, { json: body });
    expectProblem(refused, "unsupported");
    expect(refused.body.detail).toContain('`import { order } from "sluice-queue/order"`');
  }
  expect((await without("PATCH", `${path}/settings`, { json: { maxWorking: 2 } })).status).toBe(200);
  await served.ask("PATCH", `${path}/settings`, { json });
  const task = { json: { payload: 1, group: "a" } };
  const refused = await without("POST", `${path}/tasks`, task);
  expectProblem(refused, "newer_schema");
  expect(refused.body.detail).toContain("give the server the option `order` or `flows`");
  expect((await served.ask("POST", `${path}/tasks`, task)).status).toBe(201);
});

test("an app without schedules puts none, and its sweeps fail for queues whose schedules are due", async () => {
  const operationsAlone = async () => operations;
  const without = served.asking({ operations: operationsAlone });
  const path = "/v1/queues/scheduled";
  const daily = { every: "24h", payload: 1 };
  for (const refused of [
    await without("PUT", `${path}/schedules/daily`, { json: daily }),
    await without("PUT", `${path}/declaration`, { json: { schedules: [{ name: "daily", ...daily }] } }),
  ]) {
    expectProblem(refused, "unsupported");
    expect(refused.body.detail).toContain('import { schedules } from "sluice-queue/schedules"');
  }
  await served.ask("PUT", `${path}/schedules/daily`, { json: daily });
  await served.transport.send([["ZADD", "sluice:queues", "1", "~scheduled"]]);
  const failed = [{ queue: "scheduled", code: "unsupported" }];
  expect((await without("POST", "/v1/sweep")).body).toMatchObject({ failed });
  // The other app finds out that none is due.
  expect((await served.ask("POST", "/v1/sweep")).body).toMatchObject({ failed: [] });
});

test("an app without debounce adds no task with one, and forgets no key", async () => {
  const ask = served.asking({ debounce: undefined });
  const path = "/v1/queues/debounced";
  const throttle = { key: "a", most: 1, per: "1m" };
  for (const refused of [
    await ask("POST", `${path}/tasks`, { json: { payload: 1, throttle } }),
    await ask("DELETE", `${path}/keys/a`),
  ]) {
    expectProblem(refused, "unsupported");
    expect(refused.body.detail).toContain('`import { debounce } from "sluice-queue/debounce"`');
  }
  expect((await ask("POST", `${path}/tasks`, { json: { payload: 1 } })).status).toBe(201);
});

test.each(["docs", "deepSweep", "operations", "schedules", "order", "debounce"])(
  "the option %s is refused if it is anything else",
  (name) => {
    for (const given of [true, "yes", {}, null])
      expect(() => served.make({ [name]: given })).toThrow(new RegExp(`^${name} must be `));
  },
);
