import { describe, expect, test } from "vitest";
import { sluice as cloudflare } from "../../serverless/cloudflare.ts";
import { sluice as vercel } from "../../serverless/vercel.ts";
import type { ServiceOptions } from "../../src/deploy/options.ts";
import { docs } from "../../src/http/docs/index.ts";
import { operations } from "../../src/http/operations/index.ts";
import { deepSweep } from "../../src/open/deep-sweep/index.ts";
import { debounce } from "../../src/features/debounce/index.ts";
import { defineQueue } from "../../src/index.ts";
import { dashboard } from "../../src/dashboard/index.ts";
import { schedules } from "../../src/open/schedules/index.ts";
import { order } from "../../src/open/order/index.ts";
import { testDeployment } from "../../src/testing/index.ts";

// The same app as each platform has it. Which code is in its bundle: test/contract/bundle.test.ts.
const platforms = { cloudflare, vercel } as Record<string, (options: ServiceOptions) => object>;
const deployed = (platform: string, options: ServiceOptions = {}) =>
  testDeployment(platforms[platform]!(options) as ReturnType<typeof cloudflare>);

/** What the parts of a deployment answer. */
async function parts(test: ReturnType<typeof deployed>) {
  const headers = { authorization: `Bearer ${test.token}`, "content-type": "application/json" };
  const body = JSON.stringify({ deep: true });
  const [root, page, document, queues, deep] = await Promise.all([
    test.fetch("/"),
    test.fetch("/docs"),
    test.fetch("/openapi.json"),
    test.fetch("/v1/queues", { headers }),
    test.fetch("/v1/sweep", { method: "POST", headers, body }),
  ]);
  return {
    root: root.status,
    page: page.status,
    document: document.status,
    queues: queues.status,
    deep: deep.status,
  };
}

const all = { root: 302, page: 200, document: 200, queues: 200, deep: 200 };
const none = { root: 404, page: 404, document: 404, queues: 404, deep: 501 };

describe("the documentation, the routes of operators and the deep sweep", () => {
  test("are on where bundles load code on demand, unless they are turned off", async () => {
    expect(await parts(deployed("vercel"))).toEqual(all);
    expect(await parts(deployed("vercel", { docs: true, operations: true, deepSweep: true }))).toEqual(all);
    expect(await parts(deployed("vercel", { docs, operations, deepSweep }))).toEqual(all);
    expect(await parts(deployed("vercel", { docs: false, operations: false, deepSweep: false }))).toEqual(
      none,
    );
  });

  test("are off in a Worker, unless their code is given", async () => {
    expect(await parts(deployed("cloudflare"))).toEqual(none);
    expect(
      await parts(deployed("cloudflare", { docs: undefined, operations: undefined, deepSweep: undefined })),
    ).toEqual(none);
    expect(await parts(deployed("cloudflare", { docs, operations, deepSweep }))).toEqual(all);
  });
});

test.each([
  ["dashboard", "dashboard"],
  ["docs", "docs"],
  ["operations", "operations"],
  ["deepSweep", "deep-sweep"],
  ["schedules", "schedules"],
  ["order", "order"],
  ["debounce", "debounce"],
  ["flows", "flows"],
])("a Worker refuses %s: true, and names the import to write", (name, entry) => {
  // @ts-expect-error: it does not compile either.
  expect(() => cloudflare({ dashboard: true, docs: true, operations: true, deepSweep: true })).toThrow();
  // @ts-expect-error: nor these.
  expect(() => cloudflare({ schedules: true, order: true, debounce: true, flows: true })).toThrow();
  expect(() => cloudflare({ [name]: true })).toThrow(`import { ${name} } from "sluice-queue/${entry}"`);
});

describe("strict order and debounce", () => {
  const ledger = defineQueue("ledger", { order: "strict" });
  const consumers = [ledger.consumer(() => {})];
  const enqueued = async (test: ReturnType<typeof deployed>, body: object) => {
    const headers = { authorization: `Bearer ${test.token}`, "content-type": "application/json" };
    const path = "/v1/queues/ledger/tasks";
    return test.fetch(path, { method: "POST", headers, body: JSON.stringify({ payload: 1, ...body }) });
  };
  const debounced = { group: "a", singleton: { key: "one", while: "waiting" } };

  test("are on where bundles load code on demand, and in a Worker if their code is given", async () => {
    for (const test of [
      deployed("vercel", { consumers }),
      deployed("cloudflare", { consumers, order, debounce }),
    ]) {
      expect((await enqueued(test, debounced)).status).toBe(201);
      expect((await enqueued(test, { group: "a" })).status).toBe(201);
      await test.advance("1m");
      expect(await test.queue(ledger).counts()).toMatchObject({ pending: 0, working: 0, delayed: 0 });
    }
  });

  test("are refused without, with the import to write", async () => {
    for (const deployment of [
      () => deployed("cloudflare", { consumers }),
      () => deployed("vercel", { consumers, order: false }),
    ])
      expect(deployment).toThrow(
        'consumers[0] must not have order: "strict" without the option order: import { order } from',
      );
    for (const test of [deployed("cloudflare"), deployed("vercel", { debounce: false })]) {
      const refused = await enqueued(test, debounced);
      expect(refused.status).toBe(501);
      expect(((await refused.json()) as { detail: string }).detail).toContain(
        'import { debounce } from "sluice-queue/debounce"',
      );
      expect((await enqueued(test, {})).status).toBe(201);
    }
  });
});

describe("schedules", () => {
  const digest = defineQueue("digest", { schedules: { hourly: { every: "1h", payload: 1 } } });
  let done = 0;
  const consumers = [digest.consumer(() => void done++)];
  test.each([
    ["where bundles load code on demand", "vercel", {}],
    ["in a Worker if their code is given", "cloudflare", { schedules }],
    ["in a Worker with the routes of operators", "cloudflare", { operations }],
    ["in a Worker with the dashboard", "cloudflare", { dashboard }],
  ])("are on %s", async (_, platform, given) => {
    done = 0;
    await deployed(platform, { consumers, ...given }).advance("150m");
    expect(done).toBe(2);
  });

  test("are refused without, with the import to write", async () => {
    const why =
      "consumers[0] must not have schedules without the option schedules: import { schedules } from";
    expect(() => deployed("cloudflare", { consumers })).toThrow(why);
    expect(() => deployed("vercel", { consumers, schedules: false })).toThrow(why);
    const fetch: ServiceOptions["fetch"] = async (_, tools) => {
      const put = () => tools.schedules("digest").put("hourly", { every: "1h", payload: 1 });
      return Response.json(
        String(
          await Promise.resolve()
            .then(put)
            .catch((error: unknown) => error),
        ),
      );
    };
    const answer = await (await deployed("cloudflare", { fetch }).fetch("/own")).text();
    expect(answer).toContain("schedules need the option schedules");
  });
});

test("the own fetch of a deployment gets the paths of the documentation if that is off", async () => {
  const fetch = (request: Request) => new Response(`mine: ${new URL(request.url).pathname}`);
  const text = async (options: ServiceOptions) =>
    (await deployed("vercel", { ...options, fetch }).fetch("/docs")).text();
  expect(await text({ docs: false })).toBe("mine: /docs");
  expect(await text({})).toContain("<h1>Sluice");
});
