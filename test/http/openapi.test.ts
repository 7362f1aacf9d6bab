import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { docsPage } from "../../src/http/docs/docs-page.ts";
import { openapi } from "../../src/http/docs/openapi.gen.ts";
import type { Operation } from "../../src/http/docs/openapi-document.ts";
import { problems } from "../../src/http/problems/codes.ts";
import { validate } from "../../src/http/request/validate.ts";
import { named } from "../../tools/openapi/components.ts";
import { expectProblem, serve } from "./served.ts";

let served: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.stop());

const operations = Object.entries(openapi.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]): [string, Operation] => [
    `${method.toUpperCase()} ${path}`,
    operation,
  ]),
);

/** Every object in the document, with the pointer to it. */
function* walk(value: unknown, pointer = "#"): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield [pointer, value as Record<string, unknown>];
  for (const [key, inner] of Object.entries(value)) {
    yield* walk(inner, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  }
}

const nodes = new Map(walk(openapi));

function schemaOf(name: string) {
  const schema = named[name];
  if (!schema) throw new Error(`no schema is called ${name}`);
  return schema;
}

describe("the document", () => {
  it("is current", async () => {
    const tool = fileURLToPath(new URL("../../tools/build-openapi.ts", import.meta.url));
    await promisify(execFile)(process.execPath, [tool, "--check"]);
  });

  it("is served unchanged to every caller", async () => {
    const { status, body, headers } = await served.ask("GET", "/openapi.json", { as: null });
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("application/json");
    expect(body).toEqual(openapi);
  });

  it("lists exactly the routes that the app has", () => {
    const ofApp = served.app.routes
      // The root only redirects to the page.
      .filter(({ method, path }) => method !== "ALL" && path !== "/")
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);
    expect([...new Set(ofApp)].toSorted()).toEqual(operations.map(([route]) => route).toSorted());
  });

  it("has no reference that leads nowhere, and no component that nothing refers to", () => {
    const refs = [...nodes.values()].flatMap(({ $ref }) => (typeof $ref === "string" ? [$ref] : []));
    expect(refs.filter((ref) => !nodes.has(ref))).toEqual([]);
    const components = Object.entries(openapi.components)
      .filter(([kind]) => kind !== "securitySchemes")
      .flatMap(([kind, named]) => Object.keys(named).map((name) => `#/components/${kind}/${name}`));
    expect(components.filter((one) => !refs.includes(one))).toEqual([]);
    const schemes = operations.flatMap(([, { security }]) => security.flatMap(Object.keys));
    expect([...new Set(schemes)].toSorted()).toEqual(
      Object.keys(openapi.components.securitySchemes).toSorted(),
    );
  });

  it("declares errors of the caller and of the server for every route", async () => {
    for (const [route, { responses }] of operations) {
      const kinds = new Set(Object.keys(responses).map((status) => status[0]));
      expect([route, kinds.has("4"), kinds.has("5")]).toEqual([route, true, true]);
    }
    for (const path of ["/health", "/openapi.json", "/docs"])
      expectProblem(await served.ask("POST", path), "method_not_allowed");
  });

  it("gives every operation an id of its own, and names every parameter of its path", () => {
    expect(new Set(operations.map(([, { operationId }]) => operationId)).size).toBe(operations.length);
    for (const [route, { parameters = [] }] of operations) {
      const named = parameters.flatMap((one) => ("$ref" in one ? [one.$ref.split("/").at(-1)] : []));
      for (const [, name] of route.matchAll(/\{(\w+)\}/g))
        expect([route, named]).toEqual([route, expect.arrayContaining([name])]);
    }
  });

  it("names the header that continues a trace on the route that reads it alone", () => {
    const reading = operations.filter(([, { parameters = [] }]) =>
      parameters.some((one) => "$ref" in one && one.$ref === "#/components/parameters/traceparent"),
    );
    expect(reading.map(([route]) => route)).toEqual(["POST /v1/queues/{queue}/tasks"]);
  });

  it("requires a token on each route on which the app does", async () => {
    for (const [route, { security }] of operations) {
      const [method = "", path = ""] = route.split(" ");
      const { status } = await served.ask(method, path.replaceAll(/[{}]/g, ""), { as: null });
      expect([route, status]).toEqual([route, security.length > 0 ? 401 : 200]);
    }
  });

  it("names every problem, each with an example", () => {
    const { examples } = openapi.components;
    for (const [code, { status, title }] of Object.entries(problems)) {
      expect(examples[code]?.value).toMatchObject({
        code,
        status,
        title,
        type: `/docs#${code}`,
      });
      expect(validate(schemaOf("Problem"), examples[code]?.value)).toBeTruthy();
    }
  });

  it("shows examples that its own schemas accept", () => {
    let checked = 0;
    for (const [pointer, node] of nodes) {
      if (!pointer.endsWith("application~1json")) continue;
      const schema = node["schema"] as { $ref?: string; anyOf?: { $ref: string }[] };
      const names = [schema, ...(schema.anyOf ?? [])].flatMap(({ $ref }) =>
        $ref ? [$ref.split("/").at(-1) ?? ""] : [],
      );
      for (const example of Object.values(node["examples"] ?? {})) {
        const fits = names.some((name) => {
          const schemaOfName = named[name];
          if (!schemaOfName) return false;
          try {
            validate(schemaOfName, example.value);
            return true;
          } catch {
            return false;
          }
        });
        expect([pointer, example.value, fits]).toEqual([pointer, example.value, true]);
        checked++;
      }
    }
    expect(checked).toBeGreaterThan(15);
  });

  it("describes the app's answers", async () => {
    const ask = served.ask;
    const path = "/v1/queues/described/tasks";
    const worker = { name: "w", incarnation: "i", node: "n", pid: 1, silentAfter: "1m" };
    const enqueued = await ask("POST", path, {
      json: { payload: 1, id: "x", group: "g", priority: 1, dedup: { key: "k", window: "1h" } },
    });
    const many = await ask("POST", path, {
      json: { tasks: [{ payload: 1, delay: "1h", headers: { a: "b" } }] },
    });
    const pulled = await ask("POST", `${path}/pull`, { json: { worker } });
    const [{ receipt }] = pulled.body.tasks;
    const settled = await ask("POST", `${path}/settle`, {
      json: {
        settlements: [
          { receipt, outcome: "extend", progress: { sent: 40 } },
          { receipt: "1.1.9.abcdefgh.x", outcome: "extend" },
        ],
        pull: {},
      },
    });
    const nightly = "/v1/queues/described/schedules/nightly";
    const recurring = { cron: "@daily", payload: 1, until: 9e12, lease: "1m", headers: { a: "b" } };
    const strict: [string, unknown][] = [
      ["SchedulePut", (await ask("PUT", nightly, { json: recurring })).body],
      ["ListedSchedule", (await ask("POST", `${nightly}/pause`)).body],
      ["Schedule", (await ask("GET", nightly)).body],
      ["Schedules", (await ask("GET", "/v1/queues/described/schedules")).body],
      ["ScheduleRemoved", (await ask("DELETE", nightly)).body],
      ["Enqueued", enqueued.body],
      ["EnqueuedMany", many.body],
      ["Pulled", pulled.body],
      ["Settled", settled.body],
      ["Task", (await ask("GET", `${path}/x`)).body],
      ["Cancelled", (await ask("POST", `${path}/x/cancel`)).body],
      ["Queues", (await ask("GET", "/v1/queues")).body],
      ["Queue", (await ask("GET", "/v1/queues/described")).body],
      ["Workers", (await ask("GET", "/v1/queues/described/workers")).body],
      [
        "HeartbeatReply",
        (await ask("POST", "/v1/queues/described/workers/heartbeat", { json: { worker } })).body,
      ],
      ["WorkerFailed", (await ask("POST", "/v1/queues/described/workers/w/fail")).body],
      ["ListedTasks", (await ask("GET", `${path}?state=delayed&payloads=true`)).body],
      ["Redriven", (await ask("POST", "/v1/queues/described/redrive", { json: { ids: ["none"] } })).body],
      ["Purged", (await ask("POST", "/v1/queues/described/purge", { json: { state: "delayed" } })).body],
      ["TaskDeleted", (await ask("DELETE", `${path}/${many.body.tasks[0].id}`)).body],
      ["QueueSettings", (await ask("POST", "/v1/queues/described/pause")).body],
      [
        "QueueSettings",
        (await ask("PATCH", "/v1/queues/described/settings", { json: { maxWorking: 1 } })).body,
      ],
      ["GroupSettings", (await ask("PATCH", "/v1/queues/described/groups/g", { json: { weight: 2 } })).body],
      ["Group", (await ask("GET", "/v1/queues/described/groups/g")).body],
      ["Statistics", (await ask("GET", "/v1/queues/described/statistics")).body],
      ["QueueDeleted", (await ask("DELETE", "/v1/queues/none")).body],
      ["Swept", (await ask("POST", "/v1/sweep")).body],
      ["DeepSwept", (await ask("POST", "/v1/sweep", { json: { deep: true } })).body],
      ["Health", (await ask("GET", "/health")).body],
      ["Problem", (await ask("GET", "/nowhere")).body],
    ];
    // Each answer is compared with a copy that has only the documented fields, so undocumented ones fail.
    for (const [name, body] of strict) expect([name, validate(schemaOf(name), body)]).toEqual([name, body]);
  });
});

describe("the page", () => {
  it("shows every route and problem, and runs and loads nothing", async () => {
    const { status, body, headers } = await served.ask("GET", "/docs", { as: null });
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    for (const [route, { operationId, summary }] of operations) {
      expect(body).toContain(`id="${operationId}"`);
      expect(body).toContain(route.split(" ")[1]);
      expect(body.replaceAll("&#39;", "'")).toContain(summary);
    }
    for (const code of Object.keys(problems)) expect(body).toContain(`id="${code}"`);
    expect(body).not.toMatch(/<script|<link|<img|\bon\w+=|style="|https?:\/\//);
    const policy = headers.get("content-security-policy");
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; /);
    const style = /<style>([^]*?)<\/style>/.exec(body)?.[1] ?? "";
    const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style));
    expect(policy).toContain(Buffer.from(hash).toString("base64"));
  });

  it("is the target of the root's redirect, for every caller", async () => {
    const { status, headers } = await served.ask("GET", "/", { as: null });
    expect([status, headers.get("location")]).toEqual([302, "docs"]);
  });

  it("shows commands with the names that `npm start` exports", async () => {
    const { body } = await served.ask("GET", "/docs", { as: null });
    const names = [...body.matchAll(/\$(\w+)/g)].map(([, name]) => name);
    expect(new Set(names)).toEqual(new Set(["SLUICE_URL", "SLUICE_TOKEN", "CRON_SECRET"]));
  });

  it("puts a title above the fields of each form that a value can have", async () => {
    const { body } = await served.ask("GET", "/docs", { as: null });
    const titled = [...body.matchAll(/<p class="form">(.*?)<\/p>/g)].map(([, title]) => title);
    const outcome = (name: string) => `With <code>outcome: &#34;${name}&#34;</code>`;
    expect(titled).toEqual([
      '<a href="#NewTask">NewTask</a>',
      '<a href="#NewTasks">NewTasks</a>',
      '<a href="#Sweep">Sweep</a>',
      '<a href="#DeepSweep">DeepSweep</a>',
      ...["complete", "reject", "requeue", "extend"].map(outcome),
    ]);
    for (const ok of [true, false]) expect(body).toContain(`<td>With <code>ok: ${ok}</code></td>`);
    expect(body).not.toMatch(/<\/table><\/div><div/);
  });

  it("shows every text of the document as text", async () => {
    const hostile = { ...openapi, info: { ...openapi.info, title: `<script>"&'`, description: "a `<b>` c" } };
    const html = await (await docsPage(hostile)).text();
    expect(html).toContain("<h1>&#60;script&#62;&#34;&#38;&#39;");
    expect(html).toContain("<p>a <code>&#60;b&#62;</code> c</p>");
  });

  it("has balanced elements and unique ids", async () => {
    const { body } = await served.ask("GET", "/docs", { as: null });
    const open: string[] = [];
    for (const [tag, end, name = ""] of body
      .replace(/<style>[^]*<\/style>/, "")
      .matchAll(/<(\/?)([a-z0-9]+)[^>]*>/g)) {
      if (["meta", "br", "link"].includes(name)) continue;
      if (!end) open.push(name);
      else expect([tag, open.pop()]).toEqual([tag, name]);
    }
    expect(open).toEqual([]);
    const ids = [...body.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const targets = [...body.matchAll(/href="#([^"]*)"/g)].map(([, id]) => id);
    expect(targets.filter((id) => !ids.includes(id))).toEqual([]);
  });
});
