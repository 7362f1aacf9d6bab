import { isObject } from "./document.ts";
import { consistentFlow } from "./flow-bodies.ts";
import type { Plan } from "./valid-request.ts";

type Fields = Record<string, unknown>;

/** Removes the other fields if the first, which excludes them, is given. */
function exclude(fields: Fields, given: string, ...others: readonly string[]): void {
  if (fields[given] === undefined) return;
  for (const other of others) delete fields[other];
}

/** The fields beside `encoding` hold bytes in base64. */
function inBase64(fields: Fields, ...names: readonly string[]): void {
  if (fields["encoding"] === undefined) return;
  const name = names.find((each) => Object.hasOwn(fields, each));
  if (name === undefined) delete fields["encoding"];
  else fields[name] = Buffer.from(JSON.stringify(fields[name])).toString("base64");
}

/** Only one of what may change an earlier task, and nothing that excludes it. */
function keyed(fields: Fields): void {
  exclude(fields, "debounce", "throttle", "singleton", "replace", "dedup", "again", "delay", "at");
  exclude(fields, "throttle", "singleton", "replace", "dedup", "again", "at");
  exclude(fields, "singleton", "replace", "dedup", "again");
  if (fields["id"] === undefined) delete fields["replace"];
  if (fields["replace"] === true) delete fields["dedup"];
  const { debounce } = fields;
  // Lists have no bytes.
  if (fields["encoding"] !== undefined && isObject(debounce))
    fields["debounce"] = { ...debounce, keep: "last" };
}

function newTask(fields: Fields): void {
  keyed(fields);
  inBase64(fields, "payload");
  exclude(fields, "at", "delay");
  exclude(fields, "dedup", "again");
  if (fields["again"] === true) delete fields["unique"];
  if (fields["unique"] !== undefined) fields["id"] ??= "a";
  if (fields["id"] === undefined) delete fields["again"];
}

function settlement(fields: Fields): void {
  inBase64(fields, "result", "error");
  if (fields["unstarted"] === true)
    exclude(fields, "unstarted", "delay", "backoff", "error", "encoding", "queue");
  exclude(fields, "delay", "backoff");
}

function newSchedule(fields: Fields): void {
  inBase64(fields, "payload");
  if (fields["cron"] === undefined && fields["every"] === undefined) fields["cron"] = "@daily";
  exclude(fields, "cron", "every", "from");
  exclude(fields, "every", "timeZone");
  // It has to occur at least once.
  delete fields["until"];
  if (fields["from"] === 8_640_000_000_000_000) delete fields["from"];
}

/** Schedules of one declaration have different names. */
function declaration(fields: Fields): void {
  const names = new Set<unknown>();
  const schedules = Array.isArray(fields["schedules"]) ? (fields["schedules"] as unknown[]) : undefined;
  each(schedules, newSchedule);
  if (!schedules) return;
  fields["schedules"] = schedules.filter((schedule) => {
    const name = isObject(schedule) ? schedule["name"] : undefined;
    return names.has(name) ? false : names.add(name);
  });
}

const filter = ["text", "group", "reason", "endedSince", "endedUntil", "enqueuedSince", "enqueuedUntil"];

function newFlow(body: Fields): void {
  consistentFlow(body, (task) => inBase64(task, "payload"));
}

/** A filter of pending tasks allows only a group. */
function ofGroup(fields: Fields): void {
  if (fields["state"] === "pending" && filter.some((name) => fields[name] !== undefined))
    fields["group"] ??= "m";
}

function redrive(fields: Fields): void {
  exclude(fields, "ids", ...filter, "limit", "cursor");
}

const each = (list: unknown, change: (fields: Fields) => void) => {
  if (Array.isArray(list)) for (const item of list) if (isObject(item)) change(item);
};

/** The ids of endpoints and events have other forms than those of tasks, and headers are those of HTTP. */
function ofEndpoints(body: Fields): void {
  if (typeof body["id"] === "string" && !/^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/.test(body["id"]))
    body["id"] = "acme";
  delete body["headers"];
  inBase64(body, "payload");
}

/** A text may be a longer duration than is allowed. */
function sinceThen(body: Fields): void {
  if (typeof body["since"] === "string") body["since"] = "2h";
}

/** By operation, the rules between the fields of its body. */
const rules: Readonly<Record<string, (body: Fields, path: Plan["path"]) => void>> = {
  enqueue(body) {
    if (Object.hasOwn(body, "tasks")) each(body["tasks"], newTask);
    else newTask(body);
  },
  publish(body) {
    if (Object.hasOwn(body, "messages")) each(body["messages"], newTask);
    else newTask(body);
  },
  subscribe: sinceThen,
  replayTopic: sinceThen,
  addEndpoint: ofEndpoints,
  changeEndpoint: ofEndpoints,
  sendEvent: ofEndpoints,
  addFlow: newFlow,
  addBefore(body, { id }) {
    newFlow(body);
    // Its lease is lost: with one that is held, the ref has to be of the task's own flow.
    body["receipt"] = `1.1.1.never-given.${id}`;
  },
  settle: (body) => each(body["settlements"], settlement),
  putSchedule: newSchedule,
  declareQueue: declaration,
  redrive,
  purge: ofGroup,
};

/** The same request without contradictions, by the rules that the pages state and a JSON Schema cannot. */
export function consistent(plan: Plan): Plan {
  const body: unknown = structuredClone(plan.body);
  if (isObject(body)) rules[plan.route.operationId]?.(body, plan.path);
  // A stream lasts for minutes without a given time.
  const follows = Object.hasOwn(plan.headers, "Last-Event-ID");
  const streams = follows || plan.route.operationId === "events";
  const { queues } = plan.query;
  return {
    ...plan,
    body,
    headers: { ...plan.headers, ...(follows && { accept: "text/event-stream" }) },
    query: {
      ...(streams && { wait: "5ms" }),
      ...plan.query,
      ...(queues && { queues: [...new Set(queues.split(","))].join(",") }),
    },
  };
}
