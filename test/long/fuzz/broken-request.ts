import type { ProblemCode } from "../../../src/http/problems/codes.ts";
import { breakagesOf } from "./broken-value.ts";
import { contradictions } from "./contradictions.ts";
import { fits } from "./conforms.ts";
import type { Described } from "./document.ts";
import { SECRET } from "./from-schema.ts";
import type { Sent } from "./stack.ts";
import { type Plan, written } from "./valid-request.ts";

/** A request with one fault, and what the answer has to say. */
export interface Broken {
  readonly sent: Sent;
  /** Such as `tasks[3].delay is -1`. */
  readonly how: string;
  readonly code: ProblemCode;
  /** The field that the answer has to name, and the outermost that it may name instead; undefined if none. */
  readonly field: { readonly exact: string; readonly within: string } | undefined;
}

/** The request with each fault that it can have, one at a time. */
export const brokenRequests = (described: Described, plan: Plan): Broken[] =>
  kinds.flatMap((ways) => ways(described, plan));

type Ways = (described: Described, plan: Plan) => Broken[];

function brokenOf(
  plan: Plan,
  field: string,
  how: string,
  change: Partial<Sent>,
  { within = field, code = "invalid_request" }: { within?: string; code?: ProblemCode } = {},
): Broken {
  return {
    sent: { ...written(plan), ...change },
    how: `${field || "the body"} ${how}`,
    code,
    field: code === "invalid_request" ? { exact: field, within } : undefined,
  };
}

/** Faults of the path and the query. */
const ofParameters: Ways = (described, plan) => {
  const { route, path, query } = plan;
  const broken: Broken[] = [];
  const { path: sentPath } = written(plan);
  const separator = sentPath.includes("?") ? "&" : "?";
  for (const { name, schema, in: where, required } of route.parameters) {
    if (where === "header") continue;
    for (const wrong of where === "path" ? wrongNames : wrongTexts) {
      if (fits(described, schema, wrong) || fits(described, schema, parsed(wrong))) continue;
      const change =
        where === "path" ? { path: { ...path, [name]: wrong } } : { query: { ...query, [name]: wrong } };
      broken.push(brokenOf({ ...plan, ...change }, name, `is ${wrong.slice(0, 40)}`, {}));
    }
    if (where === "path") {
      const at = route.path.split("/").indexOf(`{${name}}`);
      const unreadable = sentPath.split("/").with(at, "%zz").join("/");
      broken.push(brokenOf(plan, "path", "has %zz", { path: unreadable }));
    } else if (required) {
      const { [name]: _, ...others } = query;
      broken.push(brokenOf({ ...plan, query: others }, name, "is missing", {}));
    } else {
      const value = encodeURIComponent(query[name] ?? "1");
      const twice = `${sentPath}${separator}${name}=${value}${query[name] === undefined ? `&${name}=2` : ""}`;
      broken.push(brokenOf(plan, name, "is given twice", { path: twice }));
    }
  }
  if (route.path.startsWith("/v1/"))
    for (const name of ["unknown", "Size", "__proto__"])
      broken.push(brokenOf(plan, name, "is unknown", { path: `${sentPath}${separator}${name}=${SECRET}` }));
  return broken;
};

/** Faults of one field each, from the schema. */
const ofBody: Ways = (described, plan) => {
  const { body } = plan.route;
  if (!body || plan.body === undefined) return [];
  return breakagesOf(described, body.schema, plan.body).map(({ field, within, how, value }) =>
    brokenOf({ ...plan, body: value }, field, how, {}, { within }),
  );
};

/** Fields that are valid alone but not together, or break a rule that a schema cannot express. */
const ofContradictions: Ways = (_, plan) =>
  contradictions(plan).map(({ field, how, code, ...change }) =>
    brokenOf({ ...plan, ...change }, field, how, {}, { code }),
  );

/** Faults of the form of the request. */
const ofText: Ways = (_, plan) => {
  const { body } = written(plan);
  const { body: documented } = plan.route;
  if (!documented) return [];
  const broken = (how: string, text: string | Uint8Array, code: ProblemCode = "invalid_json") =>
    brokenOf(
      plan,
      "",
      how,
      { body: text, headers: { ...headers, "content-type": "application/json" } },
      { code },
    );
  const { headers } = written(plan);
  if (typeof body !== "string") {
    return documented.required ? [brokenOf(plan, "", "is missing", { body: "" })] : [];
  }
  const ofType = (type: string, more = {}) =>
    brokenOf(
      plan,
      "",
      `is ${type}`,
      { headers: { ...headers, "content-type": type, ...more } },
      { code: "unsupported_media_type" },
    );
  return [
    broken("ends too early", body.slice(0, -1)),
    broken("goes on", `${body},`),
    broken("has single quotes", `{'${SECRET}': 1}`),
    broken("has NaN", `{"${SECRET}": NaN}`),
    broken("is no UTF-8", Buffer.from([0x22, 0xff, 0x22])),
    broken("begins with a byte order mark twice", `\ufeff\ufeff${body}`),
    broken("is too deep", `${"[".repeat(1_001)}${"]".repeat(1_001)}`),
    broken("is blank", " "),
    ofType("text/plain"),
    ofType("application/x-www-form-urlencoded"),
    ofType("application/json; charset=latin1"),
    ofType("application/json", { "content-encoding": "gzip" }),
    ...(documented.required
      ? [brokenOf(plan, "", "is missing", { body: undefined, headers: without(headers, "content-type") })]
      : []),
  ];
};

const ofHeaders: Ways = (_, plan) => {
  const { parameters } = plan.route;
  if (!parameters.some(({ name }) => name === "Idempotency-Key")) return [];
  const { headers } = written(plan);
  return ["", "a".repeat(256), "a b", "\u00e9", "a\tb"].map((wrong) =>
    brokenOf(plan, "Idempotency-Key", `is ${wrong.slice(0, 20)}`, {
      headers: { ...without(headers, "Idempotency-Key"), "idempotency-key": wrong },
    }),
  );
};

const kinds: readonly Ways[] = [ofParameters, ofBody, ofContradictions, ofText, ofHeaders];

const wrongNames = [
  " ",
  "a b",
  "\u00e9",
  ".a",
  "~",
  "a/b",
  "a\u0000",
  "{a}b",
  "a".repeat(129),
  "a:\n",
  "\u202ea",
];
const wrongTexts = [
  "",
  " ",
  "-1",
  "1.5",
  "1e3",
  "x",
  "TRUE",
  "null",
  "99999999999999999",
  "a b",
  "x".repeat(1_001),
];

/** The value that a text of a query means. */
function parsed(text: string): unknown {
  if (/^\d{1,16}$/.test(text)) return Number(text);
  return text === "true" || text === "false" ? text === "true" : text;
}

function without(headers: Readonly<Record<string, string>>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([each]) => each !== name));
}
