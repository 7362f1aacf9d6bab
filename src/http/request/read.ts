import type * as v from "valibot";
import { milliseconds, type Duration } from "../../kernel/options/duration.ts";
import type { RequestOptions } from "../../kernel/options/types.ts";
import { KEY } from "../../kernel/options/validation.ts";
import { invalid } from "../problems/problem.ts";
import { longestBudget } from "../request-schemas/durations.ts";
import type { RequestContext, Services } from "../services.ts";
import { readJson } from "./body.ts";
import { fields, validate } from "./validate.ts";

/** The schema of a query, or of a body, without any field. */
export const noFields = fields({});

type FieldsSchema = ReturnType<typeof fields>;

/**
 * The budget of a request, ms.
 * @param budget from the request. @default the server's
 * @throws {SluiceError} `invalid_argument`
 */
export function budgetOf(services: Services, budget: Duration = services.budget): number {
  return milliseconds(budget, "budget", { min: 1, max: longestBudget });
}

/**
 * Reads and checks the JSON body.
 * @param schema of the body, or a function that chooses it
 * @param optional a missing body is read as `{}`
 * @throws {Problem} `invalid_request`, or as {@link readJson}
 */
export async function readBody<Schema extends v.GenericSchema>(
  c: RequestContext,
  { bodyBounds }: Services,
  schema: Schema | ((body: unknown) => Schema),
  optional?: "optional",
): Promise<v.InferOutput<Schema>> {
  const body = await readJson(c.req.raw, bodyBounds);
  if (body === undefined && optional === undefined) throw invalid("", "is missing");
  const chosen = typeof schema === "function" ? schema(body) : schema;
  return validate(chosen, body === undefined ? {} : body);
}

/**
 * The options of a request that changes something: those of its query, and that of its `Idempotency-Key` header.
 * @param query @default it has none
 * @throws {Problem} `invalid_request`
 */
export function requestOptions(c: RequestContext): RequestOptions;
export function requestOptions<Query extends FieldsSchema>(
  c: RequestContext,
  query: Query,
): v.InferOutput<Query> & RequestOptions;
export function requestOptions(c: RequestContext, query = noFields): RequestOptions {
  const key = c.req.header("idempotency-key");
  if (key !== undefined && !KEY.test(key)) {
    throw invalid("Idempotency-Key", "must be 1 to 255 visible ASCII characters");
  }
  const options = readQuery(c, query);
  return key === undefined ? options : { ...options, idempotencyKey: key };
}

/**
 * Checks the parameters of the path that the schema names.
 * @throws {Problem} `invalid_request`
 */
export function readPath<Path extends FieldsSchema>(c: RequestContext, schema: Path): v.InferOutput<Path> {
  const given = Object.keys(schema.entries).map((name) => [name, c.req.param(name)]);
  return validate(schema, Object.fromEntries(given));
}

/**
 * Checks the query. It may have only the parameters that the schema names, each once.
 * @throws {Problem} `invalid_request`
 */
export function readQuery(c: RequestContext): Record<string, never>;
export function readQuery<Query extends FieldsSchema>(c: RequestContext, schema: Query): v.InferOutput<Query>;
export function readQuery(c: RequestContext, schema = noFields): unknown {
  if (schema === noFields && !c.req.url.includes("?")) return {};
  const query = new Map<string, string>();
  for (const [key, values] of Object.entries(c.req.queries())) {
    if (!Object.hasOwn(schema.entries, key)) throw invalid(key, "is not a known parameter");
    const [value, ...others] = values;
    if (others.length > 0) throw invalid(key, "may be given only once");
    if (value !== undefined) query.set(key, value);
  }
  return validate(schema, Object.fromEntries(query));
}
