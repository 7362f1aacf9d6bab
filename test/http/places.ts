import * as fc from "fast-check";
import { afterAll, beforeAll } from "vitest";
import { openapi } from "../../src/http/docs/openapi.gen.ts";
import type { JsonSchema } from "../../src/http/docs/openapi-document.ts";
import { consistent } from "../long/fuzz/consistent.ts";
import { fits } from "../long/fuzz/conforms.ts";
import { Described } from "../long/fuzz/document.ts";
import { isOfFlow, renamed } from "../long/fuzz/flow-bodies.ts";
import { placesIn } from "../long/fuzz/places-in.ts";
import { populate } from "../long/fuzz/populate.ts";
import type { ReturnedValues } from "../long/fuzz/returned-values.ts";
import { type Answered, openAppStack, type Stack, token } from "../long/fuzz/stack.ts";
import { type Plan, validRequest, written } from "../long/fuzz/valid-request.ts";

export const described = new Described(openapi);

/** A place of a request that takes a value. */
export interface Place {
  /** As an answer names it, such as `tasks[3].delay`. */
  readonly field: string;
  /** The outermost field that may be named instead, if it is unknown which form of a union was meant. */
  readonly within: string;
  readonly schema: JsonSchema;
  /** The schema as the document has it in this place alone, perhaps a reference. */
  readonly given: JsonSchema;
  readonly where: "path" | "query" | "body";
  /** The request with another value in that place. */
  readonly put: (value: unknown) => Plan;
}

/**
 * Each place of the API's requests whose schema is wanted, with its operation and field. Found in valid requests that
 * are made from the document.
 */
export function places(wanted: (schema: JsonSchema) => boolean): readonly (readonly [string, Place])[] {
  return described.api.flatMap((route) => {
    const plans = fc.sample(validRequest(described, route), { numRuns: route.body ? 300 : 20, seed: 2 });
    const found = new Map<JsonSchema, Place>();
    for (const place of plans.flatMap((plan) => [...placesOf(plan)]))
      if (wanted(place.schema) && !found.has(place.given)) found.set(place.given, place);
    return Array.from(found.values(), (place) => [`${route.operationId} ${place.field}`, place] as const);
  });
}

function* placesOf(plan: Plan): Generator<Place> {
  for (const { name, in: where, schema } of plan.route.parameters) {
    if (where === "header" || plan[where][name] === undefined) continue;
    const put = (value: unknown): Plan =>
      consistent({ ...plan, [where]: { ...plan[where], [name]: value as string } });
    yield { field: name, within: name, schema: described.schema(schema), given: schema, where, put };
  }
  if (!plan.route.body || plan.body === undefined) return;
  for (const { union, ...place } of placesIn(described, plan.route.body.schema, plan.body)) {
    const isRef = isOfFlow(plan.route) && /(?:\.ref|\.after|\.after\[\d+\])$/.test(place.field);
    const put = (value: unknown): Plan => {
      // A ref that is allowed names the same item as before.
      const isAllowed = isRef && fits(described, place.schema, value);
      return { ...plan, body: isAllowed ? renamed(plan.body, place.value, value) : place.put(value) };
    };
    yield { ...place, within: union ?? place.field, where: "body", put };
  }
}

/** The app for a test file, with tasks, schedules and workers to which made requests can refer. */
export function useStack() {
  let stack: Stack;
  let known: ReturnedValues;
  beforeAll(async () => {
    stack = await openAppStack();
    known = await populate(described, stack);
  });
  afterAll(() => stack.close());
  return {
    get stack() {
      return stack;
    },
    get known() {
      return known;
    },
    send: (plan: Plan) => stack.send(written(known.filled(plan))),
    ask(method: string, path: string, body?: string, headers = {}): Promise<Answered> {
      const all = { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers };
      return stack.send({ method, path, body, headers: all });
    },
  };
}

/** Whether an answer says that the value in that place is invalid, and nothing else. */
export function isRefused({ within, field }: Place, { status, text }: Answered): boolean {
  if (status !== 400) return false;
  const { code, errors = [] } = JSON.parse(text) as { code: string; errors?: { path: string }[] };
  const [{ path } = { path: "none" }] = errors;
  const isNamed = errors.length === 1 && path.startsWith(within) && field.startsWith(path);
  return code === "invalid_request" && isNamed;
}
