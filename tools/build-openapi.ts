/**
 * Writes src/http/docs/openapi.gen.ts: the OpenAPI document, from the schemas that check requests and the
 * texts in tools/openapi. With --check it only tells whether the file is current.
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
import { headers, meanings, named, parameters, ref } from "./openapi/components.ts";
import type { OperationText } from "./openapi/operation-text.ts";
import { operations } from "./openapi/operations.ts";

const target = new URL("../src/http/docs/openapi.gen.ts", import.meta.url);

/** The JSON Schema of what is sent, or of what the texts in a query mean. */
function written(
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
    overrideSchema: ({ valibotSchema }) =>
      valibotSchema.type === "custom"
        ? { type: "object", propertyNames: { minLength: 1 }, additionalProperties: { type: "string" } }
        : undefined,
  });
  // A plain copy: the generator's own type is wider than what it makes of these schemas.
  return JSON.parse(JSON.stringify(json)) as JsonSchema;
}

const components = Object.entries(named).map(([name, schema]): [string, JsonSchema] => {
  const { [name]: _, ...others } = named;
  return [name, written(schema, "input", others)];
});
const nameOf = new Map(
  // Two texts may be of one form and mean different things.
  components.flatMap(([name, json]) => (json.type === "string" ? [] : [[JSON.stringify(json), name]])),
);

/** The generator writes a schema out where it has a description of its own; here it refers to it. */
function referring(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("description" in value)) return value;
  const { description, ...rest } = value;
  const name = nameOf.get(JSON.stringify(rest));
  return name === undefined ? value : { ...ref("schemas", name), description };
}

function schemaOf(name: string, json: JsonSchema): JsonSchema {
  const description = meanings[name];
  return {
    ...(JSON.parse(JSON.stringify(json, referring)) as JsonSchema),
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

const ofRedis: readonly ProblemCode[] = [
  "redis_unauthorized",
  "redis_error",
  "unexpected_reply",
  "redis_quota",
  "newer_schema",
  "redis_unreachable",
];

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
    for (const code of [...always, ...ofRedis]) codes.add(code);
  }
  if (body || method === "post") {
    codes.add("invalid_json").add("body_too_slow").add("payload_too_large").add("unsupported_media_type");
  }
  // In the order of the table.
  return (Object.keys(problems) as ProblemCode[]).filter((code) => codes.has(code));
}

/** The codes of each status; the name says which, for one answer serves many routes. */
function problemAnswers(codes: readonly ProblemCode[]): Record<string, Reference> {
  const answers: Record<string, Reference> = {};
  for (const status of new Set(codes.map((code) => problems[code].status))) {
    const here = codes.filter((code) => problems[code].status === status);
    const name = here.join("-or-");
    shared[name] ??= problemAnswer(here);
    answers[status] = ref("responses", name);
  }
  return answers;
}

const shared: Record<string, ResponseObject> = {};

function problemAnswer(codes: readonly ProblemCode[]): ResponseObject {
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

function contentOf({ schemas: names, examples, stream }: OperationText["answers"][string]): Content {
  if (names[0] === "Html") return { "text/html": { schema: { type: "string" } } };
  if (names[0] === "OpenApi") return { "application/json": { schema: { type: "object" } } };
  return {
    ...(names.length > 0 && json(names, examples)),
    ...(stream !== undefined && {
      "text/event-stream": { schema: { type: "string" }, examples: examplesOf({ stream }) },
    }),
  };
}

function queryParameters(query: GenericSchema, examples: Readonly<Record<string, string>> = {}): Parameter[] {
  const { properties = {}, required = [] } = written(query, "output", {});
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
  const { method, path, scopes, query, body, answers } = text;
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
        Object.entries(answers).map(([status, answer]) => {
          const content = contentOf(answer);
          return [
            status,
            {
              description: answer.description,
              ...(answer.location && { headers: { Location: ref("headers", "Location") } }),
              ...(Object.keys(content).length > 0 && { content }),
            },
          ];
        }),
      ),
      ...problemAnswers(problemsOf(text)),
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
        "Producers enqueue tasks; consumers pull a batch, work, and settle it in one more request.",
        "Times are epoch milliseconds and end in `At`. Numbers are those of JSON in JavaScript: send integers beyond 2^53 as text. Unknown fields and parameters are refused, so that a misspelt one is not lost quietly; replies may gain fields.",
        "Errors are problem documents (RFC 9457) with a stable `code`. Besides those listed with each route, a path that does not exist answers `no_route`, and another method `method_not_allowed` with `Allow`. HEAD goes where GET does, except to the sweep. There are no CORS headers.",
        'Tokens come from the server\'s `SLUICE_TOKENS`, JSON: `[{"sha256": "…", "scopes": ["enqueue", "consume", "admin"], "queues": "emails-*"}]`.',
      ].join("\n\n"),
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    tags: [
      { name: "tasks", description: "Enqueue, pull, settle, follow and cancel." },
      { name: "queues", description: "What there is, how it is set, and how it goes." },
      { name: "workers", description: "Who works on what. A pull need not name a worker." },
      { name: "schedules", description: "What recurs, and when." },
      { name: "operation", description: "What cron calls." },
      { name: "about", description: "Open to everybody." },
    ],
    paths: pathsOf(),
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "A token with the scope, for the queue." },
        cronSecret: { type: "http", scheme: "bearer", description: "The server's CRON_SECRET." },
      },
      schemas: Object.fromEntries(components.map(([name, schema]) => [name, schemaOf(name, schema)])),
      examples: problemExamples(),
      parameters,
      headers,
      responses: shared,
    },
  };
}

/** Leaves out the empty lists of required fields. */
const tidy = (key: string, value: unknown) =>
  key === "required" && Array.isArray(value) && value.length === 0 ? undefined : value;

const source = `// Written by tools/build-openapi.ts; do not edit.
import type { OpenApiDocument } from "./openapi-document.ts";

export const openapi: OpenApiDocument = ${JSON.stringify(await build(), tidy, 2)};
`;

if (!process.argv.includes("--check")) {
  await writeFile(target, source);
} else if ((await readFile(target, "utf8").catch(() => "")) !== source) {
  console.error("src/http/docs/openapi.gen.ts is not current: run `node tools/build-openapi.ts`.");
  process.exitCode = 1;
}
