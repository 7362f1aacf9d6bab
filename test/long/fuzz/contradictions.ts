import type { ProblemCode } from "../../../src/http/problems/codes.ts";
import { isObject } from "./document.ts";
import { isOfFlow } from "./flow-bodies.ts";
import { SECRET } from "./from-schema.ts";
import type { Plan } from "./valid-request.ts";

// Durations out of bounds, which the document has: test/http/fields.test.ts.

/** One broken rule that a JSON Schema cannot express. */
export interface Contradiction {
  /** The field that the answer has to name. */
  readonly field: string;
  readonly how: string;
  readonly code: ProblemCode;
  readonly body?: unknown;
  readonly query?: Plan["query"];
}

type Fields = Readonly<Record<string, unknown>>;
/** The field, the fields to set, and what the fault is. */
type Rule = readonly [field: string, set: Fields, without?: readonly string[], code?: ProblemCode];

const long = (bytes: number) => SECRET.repeat(Math.ceil(bytes / SECRET.length));

const inTask: readonly Rule[] = [
  ["payload", { payload: `${SECRET} is no base64`, encoding: "base64" }],
  ["payload", { payload: { a: 1 }, encoding: "base64" }],
  ["headers", { headers: { "": "a" } }],
  ["headers", { headers: { a: long(16_384) } }, [], "payload_too_large"],
];

const inNewTask: readonly Rule[] = [
  ...inTask,
  ["at", { at: 1, delay: 1 }],
  ["again", { again: true }, ["id", "dedup"]],
  ["again", { again: true, id: "a", dedup: { key: "k", window: 1 } }, ["unique"]],
  ["unique", { unique: "24h" }, ["id", "again"]],
  ["unique", { unique: 1, id: "a", again: true }, ["dedup"]],
];

const unknownRef: Rule = ["after", { after: "unknown" }];
const inFlowTask: readonly Rule[] = [...inTask, unknownRef];
const inInnerFlow: readonly Rule[] = [unknownRef];

const KEYED = ["debounce", "throttle", "singleton", "replace"];
const debounce = { key: "k", wait: 1 };
const throttle = { key: "k", most: 1, per: 1 };

/** Of a task that is sent alone, and may change an earlier one. */
const inSingleTask: readonly Rule[] = [
  ...inNewTask.map(([field, set, without = [], ...code]): Rule => [
    field,
    set,
    [...without, ...KEYED],
    ...code,
  ]),
  ["throttle", { debounce, throttle }, ["singleton", "replace", "delay", "at", "dedup", "again", "unique"]],
  ["delay", { debounce, delay: 1 }, ["throttle", "singleton", "replace", "at", "dedup", "again", "unique"]],
  ["replace", { replace: true }, ["debounce", "throttle", "singleton", "id", "dedup", "again", "unique"]],
];

/** By the outcome. */
const inSettlement: Readonly<Record<string, readonly Rule[]>> = {
  complete: [["encoding", { encoding: "base64" }, ["result"]]],
  reject: [["error", { error: "====", encoding: "base64" }]],
  requeue: [
    ["unstarted", { unstarted: true, delay: 1 }, ["backoff", "error", "encoding", "queue"]],
    ["unstarted", { unstarted: true, error: SECRET }, ["backoff", "delay", "encoding", "queue"]],
    ["backoff", { backoff: true, delay: 1 }, ["unstarted"]],
  ],
  extend: [["progress", { progress: long(1_024) }, [], "payload_too_large"]],
};

const noQueueTwice: Rule = ["queues", { queues: "a,b,a" }];
const noCursor: Rule = ["cursor", { cursor: SECRET }];

const inBody: Readonly<Record<string, readonly Rule[]>> = {
  enqueue: [...inSingleTask, ["tasks", { tasks: [{ payload: 1 }] }]],
  redrive: [
    ["cursor", { cursor: SECRET }, ["ids"]],
    ["ids", { ids: ["a"], group: "m" }],
    ["ids", { ids: ["a"], limit: 1 }],
  ],
  purge: [noCursor, ["group", { state: "pending", reason: "rejected" }, ["group", "cursor"]]],
  putSchedule: [
    ...inTask,
    ["cron", { cron: "@daily", every: 1_000 }, ["timeZone", "from"]],
    ["cron", {}, ["cron", "every", "timeZone", "from"]],
    ["cron", { cron: "61 * * * *" }, ["every", "from"]],
    ["cron", { cron: SECRET }, ["every", "from"]],
    ["timeZone", { cron: "@daily", timeZone: "Europe/Atlantis" }, ["every", "from"]],
    ["timeZone", { every: 1_000, timeZone: "UTC" }, ["cron", "from"]],
    ["from", { cron: "@daily", from: 1 }, ["every"]],
    ["headers.schedule", { headers: { schedule: "a" } }],
    ["headers.scheduled-at", { headers: { "scheduled-at": "a" } }],
  ],
  sweep: [["cursor", { deep: true, cursor: SECRET }]],
};

/** The request with each such rule broken. */
export function contradictions({ route, body, query }: Plan): Contradiction[] {
  if (!isObject(body)) {
    const taken = new Set(route.parameters.map(({ name }) => name));
    const rules = [noCursor, noQueueTwice].filter(([name]) => taken.has(name));
    return broken(query, rules, (fields) => ({ query: fields as Plan["query"] }));
  }
  const inItems = (name: string, list: readonly unknown[], rulesOf: (item: Fields) => readonly Rule[]) =>
    list.filter(isObject).flatMap((item, i) => {
      const put = (fields: Fields) => ({ body: { ...body, [name]: list.with(i, fields) } });
      return broken(item, rulesOf(item), put, `${name}[${i}].`);
    });
  const { tasks, settlements } = body;
  if (Array.isArray(tasks) && isOfFlow(route))
    return inItems("tasks", tasks, (item) => (Object.hasOwn(item, "flow") ? inInnerFlow : inFlowTask));
  if (Array.isArray(tasks)) return inItems("tasks", tasks, () => inNewTask);
  if (Array.isArray(settlements))
    return inItems("settlements", settlements, ({ outcome }) => [
      ["receipt", { receipt: SECRET }],
      ...(inSettlement[String(outcome)] ?? []),
    ]);
  return broken(body, inBody[route.operationId] ?? [], (fields) => ({ body: fields }));
}

function broken(
  fields: Fields,
  rules: readonly Rule[],
  put: (fields: Fields) => Pick<Contradiction, "body" | "query">,
  at = "",
): Contradiction[] {
  return rules.map(([field, set, without = [], code = "invalid_request"]) => {
    const kept = Object.entries(fields).filter(([name]) => !without.includes(name));
    return {
      field: `${at}${field}`,
      how: `: ${JSON.stringify(set).slice(0, 80)} without ${without.join(", ")}`,
      code,
      ...put({ ...Object.fromEntries(kept), ...set }),
    };
  });
}
