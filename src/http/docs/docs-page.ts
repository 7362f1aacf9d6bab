import type {
  Content,
  JsonSchema,
  OpenApiDocument,
  Operation,
  Parameter,
  Reference,
  ResponseObject,
} from "./openapi-document.ts";
import { toBase64 } from "../../base64.ts";
import { respond } from "../../respond.ts";
import { style } from "./docs-style.ts";
import { problems } from "../problems/codes.ts";

const pages = new WeakMap<OpenApiDocument, { readonly html: string; readonly policy: string }>();

/** The OpenAPI document as an HTML page, without scripts and without resources from elsewhere. */
export async function docsPage(document: OpenApiDocument): Promise<Response> {
  const page = pages.get(document) ?? { html: render(document), policy: await policy() };
  pages.set(document, page);
  return respond(page.html, 200, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": page.policy,
    // The page is public: a cache may keep it, but must check that it is current.
    "cache-control": "no-cache",
  });
}

/** The page may load and run nothing. Its one style sheet is allowed by its hash. */
async function policy(): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style));
  const base64 = toBase64(new Uint8Array(hash));
  return `default-src 'none'; style-src 'sha256-${base64}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Text as HTML: backticks mark code, empty lines separate paragraphs. */
function prose(text: string): string {
  return text
    .split("\n\n")
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join("");
}

function inline(text: string): string {
  return escape(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}

const pre = (text: string) => `<pre><code>${escape(text)}</code></pre>`;

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = heads.map((text) => `<th>${text}</th>`).join("");
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("");
  return `<div class="wide"><table><tr>${head}</tr>${body}</table></div>`;
}

function render(document: OpenApiDocument): string {
  const { info, tags, paths, components } = document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const routes = tags.map(({ name, description }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name));
    const items = own.map(({ method, path, operation }) => route(document, method, path, operation));
    return `<h2>${escape(name)}</h2>${prose(description)}${items.join("")}`;
  });
  const types = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<h3 id="${escape(name)}">${escape(name)}</h3>${schema.description ? prose(schema.description) : ""}${shape(schema)}`,
  );
  const codes = Object.entries(problems).map(([code, { status, meaning }]) => [
    `<code id="${code}">${code}</code>`,
    String(status),
    inline(meaning),
  ]);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(info.title)}: the HTTP interface</title><style>${style}</style></head><body>
<h1>${escape(info.title)} <span class="soft">${escape(info.version)}</span></h1>
<p>${inline(info.summary)}. Machine-readable: <a href="openapi.json">OpenAPI ${document.openapi}</a>.</p>
${prose(info.description)}
${routes.join("")}
<h2>problems</h2>${table(["code", "status", "meaning"], codes)}
<h2>types</h2>${types.join("")}
</body></html>`;
}

function route(document: OpenApiDocument, method: string, path: string, operation: Operation): string {
  const { operationId, summary, description, requestBody, responses, parameters = [] } = operation;
  const known = parameters.map((one) => resolve(document, "parameters", one));
  const rows = known.map((one) => [
    `<code>${escape(one.name)}</code>`,
    `${one.in}${one.required ? "" : ", optional"}`,
    typeName(one.schema),
    inline(one.description),
  ]);
  return `<details class="route" id="${escape(operationId)}"><summary>
<span class="method ${method}">${method.toUpperCase()}</span> <code>${escape(path)}</code>
<span class="soft">${inline(summary)}</span></summary>
${prose(description)}
<h4>Try it</h4>${pre(curl(method, path, operation, known))}
${rows.length > 0 ? `<h4>Parameters</h4>${table(["name", "in", "type", "meaning"], rows)}` : ""}
${requestBody ? `<h4>Body${requestBody.required ? "" : ", optional"}</h4>${content(document, requestBody.content)}${fieldsOf(document, requestBody.content)}` : ""}
<h4>Responses</h4>${Object.entries(responses)
    .map(([status, one]) => responseHtml(document, status, resolve(document, "responses", one)))
    .join("")}
</details>`;
}

function responseHtml(
  document: OpenApiDocument,
  status: string,
  { description, content: body }: ResponseObject,
): string {
  const problem = Number(status) >= 400;
  const details = body && !problem ? content(document, body) : "";
  const [first = "", ...others] = description.split("\n\n");
  const label = `<summary><strong>${status}</strong> ${inline(first)}</summary>`;
  return problem
    ? `<p><strong>${status}</strong> ${[first, ...others].map(inline).join("<br>")}</p>`
    : `<details open>${label}${details}</details>`;
}

function content(document: OpenApiDocument, body: Content): string {
  return Object.entries(body)
    .map(([type, { schema, examples = {} }]) => {
      const shown = Object.values(examples).map((example) => {
        const { summary, value } = resolve(document, "examples", example);
        return `<p class="soft">${escape(summary)}</p>${pre(typeof value === "string" ? value : JSON.stringify(value, null, 2))}`;
      });
      return `<p><code>${escape(type)}</code> ${typeName(schema)}</p>${shown.join("")}`;
    })
    .join("");
}

/** The fields of a JSON body, for each of its alternatives. */
function fieldsOf({ components }: OpenApiDocument, body: Content): string {
  const { schema } = body["application/json"] ?? { schema: {} };
  return (schema.anyOf ?? [schema])
    .map((form, _, { length }) => {
      const named = components.schemas[form.$ref?.split("/").at(-1) ?? ""];
      // A single form is already named by the line above.
      return named ? `${length > 1 ? formTitle(typeName(form)) : ""}${shape(named)}` : "";
    })
    .join("");
}

const formTitle = (html: string) => `<p class="form">${html}</p>`;

function resolve<Kind extends "parameters" | "examples" | "responses">(
  { components }: OpenApiDocument,
  kind: Kind,
  one: OpenApiDocument["components"][Kind][string] | Reference,
): OpenApiDocument["components"][Kind][string] {
  if (!("$ref" in one)) return one;
  const found = components[kind][one.$ref.split("/").at(-1) ?? ""];
  if (!found) throw new Error(`${one.$ref} is not in the document`);
  return found as OpenApiDocument["components"][Kind][string];
}

/**
 * A curl command. It takes the URL and the token from the shell, under the names that `npm start` exports.
 */
function curl(method: string, path: string, operation: Operation, parameters: readonly Parameter[]): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = parameters.find((one) => one.name === name);
    return encodeURIComponent(parameter?.example ?? name);
  });
  const query = parameters
    .filter((one) => one.in === "query" && one.example !== undefined)
    .map((one) => `${one.name}=${encodeURIComponent(one.example ?? "")}`);
  const address = [filled, ...(query.length > 0 ? [query.join("&")] : [])].join("?");
  const lines = [`curl${method === "get" ? "" : ` -X ${method.toUpperCase()}`} "$SLUICE_URL${address}"`];
  const [security] = operation.security;
  if (security)
    lines.push(`-H "Authorization: Bearer $${"token" in security ? "SLUICE_TOKEN" : "CRON_SECRET"}"`);
  const [example] = Object.values(operation.requestBody?.content["application/json"]?.examples ?? {});
  if (example && "value" in example) {
    const json = JSON.stringify(example.value).replaceAll("'", String.raw`'\''`);
    lines.push('-H "Content-Type: application/json"', `-d '${json}'`);
  }
  return lines.join(" \\\n  ");
}

/** The fields of an object, or of each of its alternatives. */
function shape(schema: JsonSchema): string {
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (alternatives?.some((one) => one.properties)) {
    return alternatives.map((one) => `${formTitle(variant(one))}${shape(one)}`).join("");
  }
  if (!schema.properties) return `<p>${typeName(schema)}</p>`;
  return table(["field", "type", "meaning"], fieldRows(schema, ""));
}

/** What identifies an alternative: its required fields with a constant value, if any. */
function variant({ properties = {}, required = [] }: JsonSchema): string {
  const constants = Object.entries(properties)
    .filter(([name, field]) => field.const !== undefined && required.includes(name))
    .map(([name, field]) => `<code>${escape(`${name}: ${JSON.stringify(field.const)}`)}</code>`);
  return constants.length > 0 ? `With ${constants.join(", ")}` : "";
}

function fieldRows(schema: JsonSchema, before: string): string[][] {
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties).flatMap(([name, field]) => {
    const path = `${before}${name}`;
    const optional = required.includes(name) ? "" : ' <span class="soft">optional</span>';
    const row = [`<code>${escape(path)}</code>${optional}`, typeName(field), inline(field.description ?? "")];
    const inner = field.items ?? field;
    const forms = inner.anyOf ?? inner.oneOf;
    const prefix = field.items ? `${path}[].` : `${path}.`;
    const below = (forms ?? [inner]).flatMap((one) => {
      const rows = fieldRows(one, prefix);
      const title = forms && rows.length > 0 ? variant(one) : "";
      return title === "" ? rows : [[title, "", ""], ...rows];
    });
    return [row, ...below];
  });
}

function typeName(schema: JsonSchema): string {
  if (schema.$ref !== undefined) {
    const name = escape(schema.$ref.split("/").at(-1) ?? "");
    return `<a href="#${name}">${name}</a>`;
  }
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return [...new Set(alternatives.map(typeName))].join(" or ");
  if (schema.const !== undefined) return `<code>${escape(JSON.stringify(schema.const))}</code>`;
  if (schema.enum) return schema.enum.map((one) => `<code>${escape(String(one))}</code>`).join(" or ");
  if (schema.items) return `list of ${typeName(schema.items)}${bounds(schema.minItems, schema.maxItems)}`;
  if (schema.type === undefined) return "any JSON";
  const pattern = schema.pattern === undefined ? "" : ` <code>${escape(schema.pattern)}</code>`;
  return `${escape(String(schema.type))}${bounds(schema.minimum, schema.maximum)}${bounds(schema.minLength, schema.maxLength)}${pattern}`;
}

function bounds(from: number | undefined, to: number | undefined): string {
  const open = to === undefined || to === Number.MAX_SAFE_INTEGER;
  if (open) return from === undefined || from === 0 ? "" : `, from ${from}`;
  return `, ${from === undefined ? "up to" : `${from} to`} ${to}`;
}
