import { describe, expect, test } from "vitest";
import { dashboard } from "../../src/dashboard/index.ts";
import { docs } from "../../src/http/docs/index.ts";
import { deepSweep } from "../../src/open/deep-sweep/index.ts";
import { expectProblem, useServed } from "./served.ts";

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
    expect(await at({ docs, dashboard })).toBe("docs");
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

test.each(["docs", "deepSweep"])("the option %s is refused if it is anything else", (name) => {
  for (const given of [true, "yes", {}, null])
    expect(() => served.make({ [name]: given })).toThrow(new RegExp(`^${name} must be `));
});
