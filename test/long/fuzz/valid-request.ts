import type { Arbitrary } from "fast-check";
import * as fc from "fast-check";
import type { JsonSchema } from "../../../src/http/docs/openapi-document.ts";
import { consistent } from "./consistent.ts";
import type { Described, Route } from "./document.ts";
import { type Choice, SECRET, valueOf } from "./from-schema.ts";
import { cronSecret, type Sent, token } from "./stack.ts";

/**
 * A request before it is written out, with placeholders such as `<receipt 3>` for values of earlier answers.
 */
export interface Plan {
  readonly route: Route;
  /** Path parameters. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Headers that the document names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined if the request has none. */
  readonly body: unknown;
}

/** Few, so that requests meet each other's tasks. */
export const queues = ["one", "two"];
const ids = ["a", "b", "c", "d", "e", "A;%~", `z${"~".repeat(127)}`];
const names = ["m", "n", "o;%3B"];
const refs = ["p", "q", "r;%3B", "s", "t"];

/** An instant before all others, one after all others, and one that is due at once. */
const instants = fc.constantFrom(0, 1, 1_792_800_000_000, 8_640_000_000_000_000);

/**
 * Bounds of durations that take too long at their maximum, or that the model does not cover; ms and texts.
 */
const durations: Readonly<Record<string, readonly (number | string)[]>> = {
  wait: [0, 1, "5ms", 20],
  budget: ["1s", 1_000, "60s", 60_000],
  after: [1_000, "1s", "10m", "59m", 3_540_000],
  every: [1_000, "1s", "90s", "1.5m", 3_600_000, "1d"],
};

/** Values of a duration: the least and the most that its schema allows, and others. */
function durationOf(name: string, { minimum = 0, maximum = 0 }: JsonSchema): Arbitrary<unknown> {
  const some = durations[name] ?? [minimum, `${minimum}ms`, maximum, 1, 60_000, "5m", "1.5h", "2h", "3650d"];
  return fc.constantFrom(...some.filter((value) => value !== 0 || minimum === 0));
}

/** The schema in milliseconds, if a schema is that of a duration. */
function inMilliseconds(meant: JsonSchema): JsonSchema | undefined {
  const [number, text] = meant.anyOf ?? [];
  return number?.type === "integer" && text?.pattern?.includes("ms") ? number : undefined;
}

const numbered = (what: string) => fc.nat({ max: 11 }).map((number) => `<${what} ${number}>`);

const receipts = fc.oneof(
  { weight: 9, arbitrary: numbered("receipt") },
  { weight: 1, arbitrary: fc.constant(`1.1.1.${"x".repeat(64)}.a`) },
);

/** By the name of a field or parameter, values that make sense. */
const choices: Readonly<Record<string, Arbitrary<unknown>>> = {
  queue: fc.constantFrom(...queues),
  id: fc.constantFrom(...ids),
  ids: fc.constantFrom(...ids),
  flow: fc.constantFrom(...queues.map((queue) => `m@${queue}`)),
  topic: fc.constantFrom("orders", "orders.new", ...queues),
  pattern: fc.constantFrom("orders", "orders.*", "#"),
  endpoint: fc.constantFrom("acme", "globex"),
  url: fc.constantFrom("https://acme.example/hooks"),
  secret: fc.constantFrom(`whsec_${"A".repeat(32)}`),
  types: fc.constantFrom("orders.*", "#"),
  type: fc.constantFrom("orders.paid"),
  ref: fc.constantFrom(...refs),
  group: fc.constantFrom(...names),
  name: fc.constantFrom(...names),
  incarnation: fc.constantFrom("1", "2"),
  key: fc.constantFrom(...names),
  schedule: fc.constantFrom("s", "t;%"),
  receipt: receipts,
  receipts,
  cursor: numbered("cursor"),
  cron: fc.constantFrom("* * * * *", "*/5 * * * * *", "@daily", "0 3 L * MON#1", "15 2 29 2 *"),
  timeZone: fc.constantFrom("UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires"),
  text: fc.constantFrom("s", SECRET, '"', "\u00e9"),
  at: fc.constantFrom(0, 1, 1_792_800_000_000, 2 ** 52 - 1),
  from: instants,
  endedSince: instants,
  endedUntil: instants,
  enqueuedSince: instants,
  enqueuedUntil: instants,
};

/** Fields with the names above that have another type elsewhere. */
const fitting = (schema: JsonSchema) =>
  schema.type !== "boolean" && (schema.type !== "integer" || (schema.maximum ?? 0) >= 2 ** 52 - 1);

const choiceOf =
  (described: Described): Choice =>
  (name, schema) => {
    const meant = described.schema(schema);
    const duration = inMilliseconds(meant);
    if (duration) return durationOf(name, duration);
    // The items of a list and the forms of a union are chosen by the same name.
    if (meant.type === "array" || meant.type === "object" || meant.type === "null" || meant.anyOf)
      return undefined;
    const chosen = fitting(meant) ? choices[name] : undefined;
    if (!chosen || meant.pattern === undefined) return chosen;
    // Now and then any value that the schema allows.
    const any = valueOf(described, meant, () => undefined);
    return fc.oneof({ weight: 15, arbitrary: chosen }, { weight: 1, arbitrary: any });
  };

/** A valid request of an operation. */
export function validRequest(described: Described, route: Route): Arbitrary<Plan> {
  const choose = choiceOf(described);
  const chooseParameter = parameterChoiceOf(described);
  const parametersIn = (where: "path" | "query" | "header") => {
    const all = route.parameters.filter((parameter) => parameter.in === where);
    const entries = all.map(({ name, schema, required }) => {
      const value = valueOf(described, schema, chooseParameter, name).map(String);
      return [name, required ? value : fc.option(value, { nil: undefined, freq: 2 })] as const;
    });
    return fc.record(Object.fromEntries(entries), { noNullPrototype: true }).map(given);
  };
  const { body } = route;
  const bodies = body ? valueOf(described, body.schema, choose) : fc.constant(undefined);
  return fc
    .record({
      path: parametersIn("path"),
      query: parametersIn("query"),
      headers: parametersIn("header"),
      body: !body || body.required ? bodies : fc.option(bodies, { nil: undefined }),
    })
    .map((drawn) => consistent({ route, ...drawn }));
}

/** The given ones. */
function given(all: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const entries = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}

const parameterChoiceOf =
  (described: Described): Choice =>
  (name, schema) => {
    if (name === "wait") return durationOf("wait", {});
    if (name === "Last-Event-ID") return fc.constantFrom("0", "1", "7", "999999999999999", "x");
    if (name === "Idempotency-Key") {
      return fc.oneof(
        { weight: 3, arbitrary: fc.nat().map((number) => `key-${number}`) },
        { weight: 1, arbitrary: fc.constantFrom("!", "~".repeat(255), "key-1") },
      );
    }
    return choiceOf(described)(name, schema);
  };

/** The request as it is sent. */
export function written({ route, path, query, headers, body }: Plan): Sent {
  const filled = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(path[name] ?? ""),
  );
  const search = Object.entries(query).map((pair) => pair.map(encodeURIComponent).join("="));
  return {
    method: route.method,
    path: search.length > 0 ? `${filled}?${search.join("&")}` : filled,
    headers: {
      authorization: `Bearer ${route.operationId === "sweepByCron" ? cronSecret : token}`,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    body: body === undefined ? undefined : jsonOf(body),
  };
}

/** JSON that keeps the numbers for which `JSON.stringify` writes null. */
function jsonOf(body: unknown): string {
  const marked = (_: string, value: unknown) =>
    value === Infinity ? INFINITE : value === -Infinity ? `-${INFINITE}` : value;
  return JSON.stringify(body, marked)
    .replaceAll(`"${INFINITE}"`, "1e400")
    .replaceAll(`"-${INFINITE}"`, "-1e400");
}

const INFINITE = "\ue000 infinite";
