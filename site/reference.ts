import type {
  Content,
  JsonSchema,
  OpenApiDocument,
  Operation,
  Parameter,
  ResponseObject,
} from "../src/http/docs/openapi-document.ts";
import { slugify } from "./tree.ts";

/** Text as Markdown within a cell or paragraph: code stays code, nothing else is read as a mark. */
const prose = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part, i) =>
      i % 2 === 1 ? part : part.replaceAll(/[<>{}*_[\]]/g, (mark) => `&#${mark.charCodeAt(0)};`),
    )
    .join("");
const cell = (text: string): string => prose(text).replaceAll("|", "\\|").replaceAll(/\s+/g, " ");

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  rows.length === 0
    ? ""
    : `| ${heads.join(" | ")} |\n|${heads.map(() => "---").join("|")}|\n${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}\n\n`;

const nameOf = (ref: string): string => ref.split("/").at(-1) ?? ref;
const linkTo = (ref: string): string => `[${nameOf(ref)}](#${slugify(`type ${nameOf(ref)}`)})`;

/** A schema in a few words: its type, choices and bounds. */
function short(schema: JsonSchema): string {
  if (schema.$ref !== undefined) return linkTo(schema.$ref);
  const { type, items } = schema;
  const forms = schema.anyOf ?? schema.oneOf;
  if (forms) return forms.map(short).join(" or ");
  if (schema.enum) return schema.enum.map((choice) => `\`${JSON.stringify(choice)}\``).join(", ");
  if ("const" in schema) return `\`${JSON.stringify(schema.const)}\``;
  if (type === "array") return `list of ${items ? short(items) : "anything"}`;
  const bounds = Object.entries(schema)
    .filter(([name]) => BOUNDS.has(name))
    .map(([name, bound]) => `${name} \`${String(bound)}\``);
  return [[type ?? "anything"].flat().join(" or "), ...bounds].join(", ").replaceAll("|", "\\|");
}

const BOUNDS = new Set(["minimum", "maximum", "minLength", "maxLength", "pattern", "default"]);

/** The fields of an object, also of each of several forms. */
function fields(schema: JsonSchema): string {
  const { properties = {}, required = [] } = schema;
  const rows = Object.entries(properties).map(([name, field]) => [
    `\`${name}\`${required.includes(name) ? "" : "?"}`,
    short(field),
    cell(field.description ?? ""),
  ]);
  const forms = schema.anyOf ?? schema.oneOf ?? [];
  const nested = forms.filter((form) => form.properties).map(fields);
  const named = forms.filter((form) => !form.properties).map(short);
  const whole = rows.length === 0 && forms.length === 0 ? `${short(schema)}\n\n` : "";
  const listed = named.length > 0 ? `${named.join(", ")}\n\n` : "";
  return table(["field", "type", ""], rows) + whole + listed + nested.join("or\n\n");
}

function body(content: Content | undefined): string {
  return Object.entries(content ?? {})
    .map(
      ([type, { schema }]) =>
        `\`${type}\`: ${schema.$ref ? `${short(schema)}\n\n` : `\n\n${fields(schema)}`}`,
    )
    .join("");
}

function route(document: OpenApiDocument, method: string, path: string, operation: Operation): string {
  const { parameters, responses } = document.components;
  const resolved = (operation.parameters ?? []).map((one) =>
    "$ref" in one ? (parameters[nameOf(one.$ref)] as Parameter) : one,
  );
  const rows = resolved.map((one) => [
    `\`${one.name}\`${one.required ? "" : "?"}`,
    one.in,
    short(one.schema),
    cell(one.description),
  ]);
  const answers = Object.entries(operation.responses).map(([status, one]) => {
    const response = "$ref" in one ? (responses[nameOf(one.$ref)] as ResponseObject) : one;
    const schema = Object.values(response.content ?? {})[0]?.schema;
    return [status, cell(response.description), schema?.$ref ? short(schema) : ""];
  });
  const request = operation.requestBody ? `Body, ${body(operation.requestBody.content)}` : "";
  return [
    `### ${method.toUpperCase()} ${path.replaceAll(/[{}]/g, (mark) => `&#${mark.charCodeAt(0)};`)}\n\n`,
    `**${prose(operation.summary)}.** ${prose(operation.description)}\n\n`,
    table(["parameter", "in", "type", ""], rows),
    request,
    table(["status", "", "body"], answers),
  ].join("");
}

/** The OpenAPI document as one page. */
export function reference(document: OpenApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const routes = document.tags.map(({ name, description }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name));
    return `## ${name}\n\n${prose(description)}\n\n${own.map((one) => route(document, one.method, one.path, one.operation)).join("")}`;
  });
  const types = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      `### Type ${name}\n\n${schema.description ? `${prose(schema.description)}\n\n` : ""}${fields(schema)}`,
  );
  return `# HTTP reference\n\n${prose(document.info.description)}\n\n[The HTTP interface](./http.md) has examples, scopes, errors and limits.\n\n${routes.join("")}## Types\n\n${types.join("")}`;
}
