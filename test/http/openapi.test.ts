import { describe, expect, it } from "vitest";
import { docsPage } from "../../src/http/docs/docs-page.ts";
import { openapi } from "../../src/http/docs/openapi.gen.ts";
import type { Operation } from "../../src/http/docs/openapi-document.ts";
import { problems } from "../../src/http/problems/codes.ts";
import { validate } from "../../src/http/request/validate.ts";
import { named } from "../../tools/openapi/components.ts";
import { expectProblem, useServed } from "./served.ts";

// That the app has the routes of the document, for these callers: access.test.ts. That requests and answers are as it
// says: test/long/fuzz and test/proofs/model. That it is current: `npm run openapi -- --check`.

const served = useServed();

const page = async () => (await served.ask("GET", "/docs", { as: null })).body as string;
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

/** Whether the value fits one of the schemas with these names. */
const fits = (names: readonly string[], value: unknown) =>
  names.some((name) => {
    try {
      return validate(named[name]!, value) !== undefined;
    } catch {
      return false;
    }
  });

describe("the document", () => {
  it("is served unchanged to every caller", async () => {
    const { status, body, headers } = await served.ask("GET", "/openapi.json", { as: null });
    expect([status, headers.get("content-type"), body]).toEqual([200, "application/json", openapi]);
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

  it("names the header that continues a trace on the routes that read it alone", () => {
    const reading = operations.filter(([, { parameters = [] }]) =>
      parameters.some((one) => "$ref" in one && one.$ref === "#/components/parameters/traceparent"),
    );
    expect(reading.map(([route]) => route)).toEqual([
      "POST /v1/queues/{queue}/tasks",
      "POST /v1/topics/{topic}/publish",
    ]);
  });

  it("names every problem, each with an example", () => {
    const { examples } = openapi.components;
    for (const [code, { status, title }] of Object.entries(problems)) {
      const expected = { code, status, title, type: `/docs#${code}` };
      expect(examples[code]?.value).toMatchObject(expected);
      expect(fits(["Problem"], examples[code]?.value)).toBe(true);
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
        const { value } = example;
        expect([pointer, value, fits(names, value)]).toEqual([pointer, value, true]);
        checked++;
      }
    }
    expect(checked).toBeGreaterThan(15);
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
    // The URL of an example is text.
    const others = body.replaceAll("&#34;https://acme.example/hooks&#34;", "");
    expect(others).not.toMatch(/<script|<link|<img|\bon\w+=|style="|https?:\/\//);
    const policy = headers.get("content-security-policy");
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; /);
    const style = /<style>([^]*?)<\/style>/.exec(body)?.[1] ?? "";
    const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style));
    expect(policy).toContain(Buffer.from(hash).toString("base64"));
  });

  it("is the target of the root's redirect, for every caller; shows commands with the names that `npm start` exports", async () => {
    const { status, headers } = await served.ask("GET", "/", { as: null });
    expect([status, headers.get("location")]).toEqual([302, "docs"]);
    const names = [...(await page()).matchAll(/\$(\w+)/g)].map(([, name]) => name);
    expect(new Set(names)).toEqual(new Set(["SLUICE_URL", "SLUICE_TOKEN", "CRON_SECRET"]));
  });

  it("puts a title above the fields of each form that a value can have", async () => {
    const body = await page();
    const titled = [...body.matchAll(/<p class="form">(.*?)<\/p>/g)].map(([, title]) => title);
    const outcome = (name: string) => `With <code>outcome: &#34;${name}&#34;</code>`;
    expect(titled).toEqual([
      '<a href="#NewTask">NewTask</a>',
      '<a href="#NewTasks">NewTasks</a>',
      '<a href="#NewFlow">NewFlow</a>',
      '<a href="#NewBatch">NewBatch</a>',
      '<a href="#NewTaskOfMany">NewTaskOfMany</a>',
      '<a href="#NewMessages">NewMessages</a>',
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
    const body = await page();
    const open: string[] = [];
    const elements = body.replace(/<style>[^]*<\/style>/, "");
    for (const [tag, end, name = ""] of elements.matchAll(/<(\/?)([a-z0-9]+)[^>]*>/g)) {
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
