/**
 * Writes src/http/docs/openapi.gen.ts: the OpenAPI document, from the schemas that check requests and the
 * texts in tools/openapi. With --check it only reports whether the file is current.
 */
import { readFile, writeFile } from "node:fs/promises";
import { toJsonSchema } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import type {
  ResponseObject,
  Content,
  Example,
  JsonSchema,
  OpenApiDocument,
  Operation,
  Parameter,
  Reference,
} from "../src/http/docs/openapi-document.ts";
import { type ProblemCode, problems } from "../src/http/problems/codes.ts";
import { withFieldTexts } from "./openapi/fields.ts";
import { headers, meanings, named, parameters, ref } from "./openapi/components.ts";
import type { OperationText } from "./openapi/operation-text.ts";
import { operations } from "./openapi/operations.ts";

const target = new URL("../src/http/docs/openapi.gen.ts", import.meta.url);

/** The JSON Schema of a schema's input. `output`, for a query: of the values that its texts represent. */
function jsonSchemaOf(
  schema: GenericSchema,
  typeMode: "input" | "output",
  definitions: Readonly<Record<string, GenericSchema>>,
): JsonSchema {
  const { $schema, $defs, ...json } = toJsonSchema(schema, {
    target: "draft-2020-12",
    typeMode,
    ignoreActions: ["raw_check", "check"],
    definitions,
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
    overrideSchema: ({ valibotSchema: { type } }) => {
      // Only an inner flow has itself what it is in.
      if (type === "lazy") return ref("schemas", "FlowItem");
      return type === "custom"
        ? { type: "object", propertyNames: { minLength: 1 }, additionalProperties: { type: "string" } }
        : undefined;
    },
  });
  // A schema that is a part of itself is among the definitions.
  const own = json.$ref === undefined ? json : $defs?.["0"];
  // A plain copy, because the generator's own type is wider than its result for these schemas.
  return withFieldTexts(schema, JSON.parse(JSON.stringify(own)) as JsonSchema);
}

const components = Object.entries(named).map(([name, schema]): [string, JsonSchema] => {
  const { [name]: _, ...others } = named;
  return [name, jsonSchemaOf(schema, "input", others)];
});
const nameOf = new Map(
  // Not strings: two of the same form may have different meanings.
  components.flatMap(([name, json]) => (json.type === "string" ? [] : [[JSON.stringify(json), name]])),
);

/**
 * Replaces a named schema with its own description by a reference; the generator repeats the whole schema.
 */
function withReferences(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("description" in value)) return value;
  const { description, ...rest } = value;
  const name = nameOf.get(JSON.stringify(rest));
  return name === undefined ? value : { ...ref("schemas", name), description };
}

function schemaOf(name: string, json: JsonSchema): JsonSchema {
  const description = meanings[name];
  return {
    ...(JSON.parse(JSON.stringify(json, withReferences)) as JsonSchema),
    ...(description && { description }),
  };
}

function oneOf(names: readonly string[]): JsonSchema {
  const [first, ...others] = names.map((name) => ref("schemas", name));
  if (!first) throw new Error("a body without a schema");
  return others.length === 0 ? first : { anyOf: [first, ...others] };
}

function examplesOf(values: Readonly<Record<string, unknown>>): Record<string, Example> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name.replaceAll(" ", "-"), { summary: name, value }]),
  );
}

const json = (names: readonly string[], examples: Readonly<Record<string, unknown>>): Content => ({
  "application/json": { schema: oneOf(names), examples: examplesOf(examples) },
});

const redisProblems: readonly ProblemCode[] = [
  "redis_unauthorized",
  "redis_error",
  "unexpected_reply",
  "redis_quota",
  "newer_schema",
  "redis_not_writable",
  "redis_unreachable",
];

/** Problems of no route of the document. The public routes, which have no other of the caller, show them. */
const anywhere: readonly ProblemCode[] = ["no_route", "method_not_allowed", "foreign_origin"];

function problemsOf({ scopes, body, method, problems: own = [] }: OperationText): ProblemCode[] {
  const codes = new Set<ProblemCode>([...own, "misconfigured"]);
  if (scopes.length > 0) {
    const always: ProblemCode[] = [
      "invalid_request",
      "unauthorized",
      "forbidden",
      "internal",
      "auth_not_configured",
    ];
    for (const code of [...always, ...redisProblems]) codes.add(code);
  }
  if (body || method === "post") {
    codes.add("invalid_json").add("body_too_slow").add("payload_too_large").add("unsupported_media_type");
  }
  // Keeps the order of the table.
  return (Object.keys(problems) as ProblemCode[]).filter((code) => codes.has(code));
}

/**
 * A reference to one response per status. Routes share responses, so the name of each consists of its codes.
 */
function problemResponses(codes: readonly ProblemCode[]): Record<string, Reference> {
  const responses: Record<string, Reference> = {};
  for (const status of new Set(codes.map((code) => problems[code].status))) {
    responses[status] = problemResponse(codes.filter((code) => problems[code].status === status));
  }
  return responses;
}

function problemResponse(codes: readonly ProblemCode[]): Reference {
  const name = codes.join("-or-");
  problemResponseObjects[name] ??= problemResponseObject(codes);
  return ref("responses", name);
}

const problemResponseObjects: Record<string, ResponseObject> = {};

function problemResponseObject(codes: readonly ProblemCode[]): ResponseObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${problems[code].meaning}`).join("\n\n"),
    ...(codes.includes("unauthorized") && {
      headers: { "WWW-Authenticate": ref("headers", "WWW-Authenticate") },
    }),
    content: {
      "application/problem+json": {
        schema: ref("schemas", "Problem"),
        examples: Object.fromEntries(codes.map((code) => [code, ref("examples", code)])),
      },
    },
  };
}

function contentOf({ schemas: names, examples, stream }: OperationText["responses"][string]): Content {
  if (names[0] === "Html") return { "text/html": { schema: { type: "string" } } };
  if (names[0] === "OpenApi") return { "application/json": { schema: { type: "object" } } };
  if (names[0] === "Metrics") {
    const text = { schema: { type: "string" }, examples: examplesOf(examples) };
    return { "application/openmetrics-text": text, "text/plain": { schema: text.schema } };
  }
  return {
    ...(names.length > 0 && json(names, examples)),
    ...(stream !== undefined && {
      "text/event-stream": { schema: { type: "string" }, examples: examplesOf({ stream }) },
    }),
  };
}

function queryParameters(query: GenericSchema, examples: Readonly<Record<string, string>> = {}): Parameter[] {
  const { properties = {}, required = [] } = jsonSchemaOf(query, "output", {});
  return Object.entries(properties).map(([name, { description = "", ...schema }]) => ({
    name,
    in: "query",
    required: required.includes(name),
    description,
    schema,
    ...(examples[name] !== undefined && { example: examples[name] }),
  }));
}

function operationOf(text: OperationText): Operation {
  const { method, path, scopes, query, body, responses } = text;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ref("parameters", name));
  const inQuery = query ? queryParameters(query, text.queryExample) : [];
  const parameters = [
    ...inPath,
    ...inQuery,
    ...(text.header ? [ref("parameters", text.header)] : []),
    ...(method === "get" ? [] : [ref("parameters", "Idempotency-Key")]),
  ];
  const wanted = scopes.filter((scope) => scope !== "cron");
  return {
    operationId: text.operationId,
    tags: [text.tag],
    summary: text.summary,
    description: wanted.length > 0 ? `${text.description} Scope: ${wanted.join(", ")}.` : text.description,
    security: [
      ...(wanted.length > 0 ? [{ token: wanted }] : []),
      ...(scopes.includes("cron") ? [{ cronSecret: [] }] : []),
    ],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: body.required, content: json(body.schemas, body.examples) } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(responses).map(([status, response]) => {
          const content = contentOf(response);
          return [
            status,
            {
              description: response.description,
              ...(response.location && { headers: { Location: ref("headers", "Location") } }),
              ...(Object.keys(content).length > 0 && { content }),
            },
          ];
        }),
      ),
      ...(scopes.length === 0 && { "4XX": problemResponse(anywhere) }),
      ...problemResponses(problemsOf(text)),
    },
  };
}

function pathsOf(): Record<string, Record<string, Operation>> {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const text of operations) {
    paths[text.path] = { ...paths[text.path], [text.method]: operationOf(text) };
  }
  return paths;
}

function problemExamples(): Record<string, Example> {
  return Object.fromEntries(
    Object.entries(problems).map(([code, { status, title, meaning }]) => [
      code,
      { summary: title, value: { type: `/docs#${code}`, title, status, code, detail: meaning } },
    ]),
  );
}

async function build(): Promise<OpenApiDocument> {
  const { version } = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return {
    openapi: "3.1.1",
    info: {
      title: "Sluice",
      version,
      summary: "A reliable work queue over HTTP",
      description: [
        "Producers enqueue tasks. Consumers pull a batch, work on it, and settle it in one more request.",
        "Times are epoch milliseconds and their names end in `At`. Numbers are 64-bit floats: send integers beyond 2^53 as strings. Unknown fields and parameters are refused, so that a misspelled one is not ignored. Responses may gain fields.",
        "Errors are problem documents (RFC 9457) with a stable `code`. In addition to those listed with each route, an unknown path returns `no_route`, and an unsupported method returns `method_not_allowed` with `Allow`. Every GET route except the sweep supports HEAD. There are no CORS headers.",
        'The server\'s `SLUICE_TOKENS` has the tokens, as JSON: `[{"sha256": "…", "scopes": ["enqueue", "consume", "view", "admin"], "queues": "emails-*"}]`. `admin` includes `view`. If an entry has `"payloads": "hidden"`, replies to its token have no payload, result, progress or headers of a task.',
      ].join("\n\n"),
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    tags: [
      { name: "tasks", description: "Enqueue, pull, settle, follow and cancel tasks." },
      { name: "flows", description: "Tasks that wait for each other." },
      { name: "topics", description: "Messages of which each queue that has subscribed gets a copy." },
      { name: "endpoints", description: "URLs to which events are delivered." },
      { name: "queues", description: "List, count, configure, pause and delete queues." },
      { name: "workers", description: "Workers and their tasks. Naming a worker in a pull is optional." },
      { name: "schedules", description: "Recurring tasks." },
      { name: "operation", description: "The sweep, which a cron calls." },
      { name: "about", description: "Public routes." },
    ],
    paths: pathsOf(),
    components: {
      securitySchemes: {
        token: {
          type: "http",
          scheme: "bearer",
          description: "A token with the scope that the route needs, for the queue. `admin` includes `view`.",
        },
        cronSecret: { type: "http", scheme: "bearer", description: "The server's CRON_SECRET." },
      },
      schemas: Object.fromEntries(components.map(([name, schema]) => [name, schemaOf(name, schema)])),
      examples: problemExamples(),
      parameters,
      headers,
      responses: problemResponseObjects,
    },
  };
}

/** Leaves out empty lists of required fields. */
const tidy = (key: string, value: unknown) =>
  key === "required" && Array.isArray(value) && value.length === 0 ? undefined : value;

const source = `// Written by tools/build-openapi.ts; do not edit.
import type { OpenApiDocument } from "./openapi-document.ts";

export const openapi: OpenApiDocument = ${JSON.stringify(await build(), tidy, 2)};
`;

if (!process.argv.includes("--check")) {
  await writeFile(target, source);
} else if ((await readFile(target, "utf8").catch(() => "")) !== source) {
  console.error("src/http/docs/openapi.gen.ts is not current: run `npm run openapi`.");
  process.exitCode = 1;
}
