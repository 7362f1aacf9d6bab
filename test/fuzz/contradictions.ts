import type { ProblemCode } from "../../src/http/problems/codes.ts";
import { isObject } from "./document.ts";
import { SECRET } from "./from-schema.ts";
import type { Plan } from "./valid-request.ts";

/** One broken rule that a JSON Schema cannot express. */
export interface Contradiction {
  /** The field that the answer has to name. */
  readonly field: string;
  readonly how: string;
  /** @default invalid_request */
  readonly code?: ProblemCode;
  readonly body?: unknown;
  readonly query?: Plan["query"];
}

type Fields = Readonly<Record<string, unknown>>;
/** The field, the fields to set, and what the fault is. */
type Rule = readonly [field: string, set: Fields, without?: readonly string[], code?: ProblemCode];

const long = (bytes: number) => SECRET.repeat(Math.ceil(bytes / SECRET.length));

const inTask: readonly Rule[] = [
  ["lease", { lease: 0 }],
  ["lease", { lease: "0ms" }],
  ["resultTtl", { resultTtl: "3651d" }],
  ["deadTtl", { deadTtl: "999999999999d" }],
  ["payload", { payload: `${SECRET} is no base64`, encoding: "base64" }],
  ["payload", { payload: { a: 1 }, encoding: "base64" }],
  ["headers", { headers: { "": "a" } }],
  ["headers", { headers: { a: long(16_384) } }, [], "payload_too_large"],
];

const inNewTask: readonly Rule[] = [
  ...inTask,
  ["at", { at: 1, delay: 1 }],
  ["delay", { delay: "3651d" }, ["at"]],
  ["again", { again: true }, ["id", "dedup"]],
  ["again", { again: true, id: "a", dedup: { key: "k", window: 1 } }, ["unique"]],
  ["unique", { unique: "24h" }, ["id", "again"]],
  ["unique", { unique: 1, id: "a", again: true }, ["dedup"]],
  ["unique", { unique: "3651d", id: "a" }, ["again"]],
  ["dedup.window", { dedup: { key: "k", window: 0 } }, ["again"]],
];

const inWorker: readonly Rule[] = [["worker.silentAfter", { worker: { name: "m", silentAfter: 0 } }]];

const inPull: readonly Rule[] = [
  ["lease", { lease: 0 }],
  ["wait", { wait: "61s" }],
  ["wait", { wait: 60_001 }],
  ...inWorker,
];

const inSettlement: Readonly<Record<string, readonly Rule[]>> = {
  complete: [["encoding", { encoding: "base64" }, ["result"]]],
  reject: [["error", { error: "====", encoding: "base64" }]],
  requeue: [
    ["unstarted", { unstarted: true, delay: 1 }, ["backoff", "error", "encoding"]],
    ["unstarted", { unstarted: true, error: SECRET }, ["backoff", "delay", "encoding"]],
    ["backoff", { backoff: true, delay: 1 }, ["unstarted"]],
    ["delay", { delay: "3651d" }, ["backoff", "unstarted"]],
  ],
  extend: [
    ["lease", { lease: "0s" }],
    ["progress", { progress: long(1_024) }, [], "payload_too_large"],
  ],
};

const ofBudget: readonly Rule[] = [
  ["budget", { budget: 0 }],
  ["budget", { budget: "61s" }],
];
const noCursor: Rule = ["cursor", { cursor: SECRET }];

const inBody: Readonly<Record<string, readonly Rule[]>> = {
  redrive: [
    ...ofBudget,
    ["cursor", { cursor: SECRET }, ["ids"]],
    ["ids", { ids: ["a"], group: "m" }],
    ["ids", { ids: ["a"], limit: 1 }],
  ],
  purge: [...ofBudget, noCursor, ["group", { state: "pending", reason: "rejected" }, ["group", "cursor"]]],
  configureQueue: [["rate.per", { rate: { most: 1, per: 0 } }]],
  configureGroup: [["rate.per", { rate: { most: 1, per: "0d" } }]],
  putSchedule: [
    ...inTask,
    ["cron", { cron: "@daily", every: 1_000 }, ["timeZone", "from"]],
    ["cron", {}, ["cron", "every", "timeZone", "from"]],
    ["cron", { cron: "61 * * * *" }, ["every", "from"]],
    ["cron", { cron: SECRET }, ["every", "from"]],
    ["timeZone", { cron: "@daily", timeZone: "Europe/Atlantis" }, ["every", "from"]],
    ["timeZone", { every: 1_000, timeZone: "UTC" }, ["cron", "from"]],
    ["from", { cron: "@daily", from: 1 }, ["every"]],
    ["every", { every: 999 }, ["cron", "timeZone"]],
    ["headers.schedule", { headers: { schedule: "a" } }],
    ["headers.scheduled-at", { headers: { "scheduled-at": "a" } }],
  ],
  heartbeat: [["lease", { lease: 0 }], ...inWorker],
  pull: inPull,
};

const inQuery: Readonly<Record<string, readonly Rule[]>> = {
  listTasks: [noCursor],
  listQueues: [noCursor],
  listGroups: [noCursor],
  listWorkers: [noCursor],
  listSchedules: [noCursor],
  getTask: [["wait", { wait: "61s" }]],
  events: [["wait", { wait: "301s" }]],
};

/** The request with each such rule broken. */
export function contradictions(plan: Plan): Contradiction[] {
  const { operationId } = plan.route;
  const { body, query } = plan;
  const ofQuery = broken(query, inQuery[operationId] ?? []).map(({ fields, ...rest }) => ({
    ...rest,
    query: fields as Plan["query"],
  }));
  if (!isObject(body)) return ofQuery;
  const ofBody = (found: ReturnType<typeof broken>) =>
    found.map(({ fields, ...rest }) => ({ ...rest, body: fields }));
  switch (operationId) {
    case "enqueue":
      if (!Array.isArray(body["tasks"])) return ofBody([...broken(body, inNewTask), beside(body)]);
      return inItems(body, "tasks", () => inNewTask);
    case "settle":
      return [
        ...inItems(body, "settlements", ({ outcome }) => [
          ["receipt", { receipt: SECRET }],
          ...(inSettlement[String(outcome)] ?? []),
        ]),
        ...(isObject(body["pull"]) ? within(body, "pull", body["pull"], inPull) : []),
      ];
    case "sweep":
      return ofBody(broken(body, [...ofBudget, ...(body["deep"] === true ? [noCursor] : [])]));
    default:
      return [...ofQuery, ...ofBody(broken(body, inBody[operationId] ?? []))];
  }
}

function broken(fields: Fields, rules: readonly Rule[], at = "") {
  return rules.map(([field, set, without = [], code = "invalid_request"]) => ({
    field: `${at}${field}`,
    how: `: ${JSON.stringify(set).slice(0, 80)} without ${without.join(", ")}`,
    code,
    fields: {
      ...Object.fromEntries(Object.entries(fields).filter(([name]) => !without.includes(name))),
      ...set,
    },
  }));
}

/** One task beside a list of tasks. */
const beside = (body: Fields) => ({
  field: "tasks",
  how: "is given beside a task",
  code: "invalid_request" as const,
  fields: { ...body, tasks: [{ payload: 1 }] },
});

function inItems(body: Fields, name: string, rulesOf: (item: Fields) => readonly Rule[]): Contradiction[] {
  const list = body[name];
  if (!Array.isArray(list)) return [];
  return list.flatMap((item: unknown, i) => {
    if (!isObject(item)) return [];
    return broken(item, rulesOf(item), `${name}[${i}].`).map(({ fields, ...rest }) => ({
      ...rest,
      body: { ...body, [name]: list.with(i, fields) as unknown[] },
    }));
  });
}

function within(body: Fields, name: string, inner: Fields, rules: readonly Rule[]): Contradiction[] {
  return broken(inner, rules, `${name}.`).map(({ fields, ...rest }) => ({
    ...rest,
    body: { ...body, [name]: fields },
  }));
}
