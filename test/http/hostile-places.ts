import { ID, QUEUE, TOKEN } from "../../src/queue/core/validation.ts";
import type { CallOptions } from "./served.ts";

/** Names that other systems fail on. */
export const names: readonly string[] = [
  "",
  " ",
  ".",
  "..",
  "../",
  "../../etc/passwd",
  "..%2f",
  "%2e%2e%2f",
  "%252e%252e",
  "%",
  "%zz",
  "%00",
  "a\u0000b",
  "a\nb",
  "a\r\nX-Injected: 1",
  "a\tb",
  "a b",
  "__proto__",
  "constructor",
  "prototype",
  "hasOwnProperty",
  "toString",
  "{a}b",
  "a}:{b",
  "a:b",
  ":",
  "sluice:{other}:tasks",
  "a;b",
  "a/b",
  "a\\b",
  "a?b",
  "a#b",
  "a&b=c",
  "a*",
  "~wake",
  ".id",
  "-id",
  "'; FLUSHALL; --",
  "$(reboot)",
  "<script>",
  "\u202eevil",
  "\u200f\u0627",
  "é",
  "😀",
  "\ufeffa",
  "a".repeat(128),
  "a".repeat(129),
  "a".repeat(10_000),
  "null",
  "undefined",
  "NaN",
  "0",
];
/** Names that JSON can hold, but no path. */
export const halves = ["\ud800", "a\udc00"];
/** Not UTF-8, or invalid escapes: the name could only be guessed. */
export const unreadable = ["%", "%zz", "%c3", "%ED%A0%80", "%ff", "a%", "%u0041"];

/** The request with the name in its place. */
type Asks = (name: string, queue: string) => [method: string, path: string, options?: CallOptions];

export interface Place {
  /** The path of the field in a fault. */
  readonly path: string;
  /** Whether the place takes the name. */
  readonly takes: (name: string) => boolean;
  readonly asks: Asks;
}

const isId = (name: string) => ID.test(name);
const never = () => false;
export const tasks = (queue: string) => `/v1/queues/${queue}/tasks`;
const post = (path: string, json: object): [string, string, CallOptions] => ["POST", path, { json }];

export const inBodies: Readonly<Record<string, Place>> = {
  "the id of a task": {
    path: "id",
    takes: isId,
    asks: (id, queue) => post(tasks(queue), { payload: 1, id }),
  },
  "the id of one task among several": {
    path: "tasks[1].id",
    takes: isId,
    asks: (id, queue) => post(tasks(queue), { tasks: [{ payload: 1 }, { payload: 2, id }] }),
  },
  "the group of a task": {
    path: "group",
    takes: isId,
    asks: (group, queue) => post(tasks(queue), { payload: 1, group }),
  },
  "a dedup key": {
    path: "dedup.key",
    takes: isId,
    asks: (key, queue) => post(tasks(queue), { payload: 1, dedup: { key, window: "1m" } }),
  },
  "the token of a pull": {
    path: "token",
    takes: (name) => TOKEN.test(name),
    asks: (token, queue) => post(`${tasks(queue)}/pull`, { token }),
  },
  "the name of a worker": {
    path: "worker.name",
    takes: isId,
    asks: (name, queue) => post(`${tasks(queue)}/pull`, { worker: { name } }),
  },
  "the incarnation of a worker": {
    path: "worker.incarnation",
    takes: isId,
    asks: (incarnation, queue) =>
      post(`/v1/queues/${queue}/workers/heartbeat`, { worker: { name: "w", incarnation } }),
  },
  "the incarnation that is failed": {
    path: "incarnation",
    takes: isId,
    asks: (incarnation, queue) => post(`/v1/queues/${queue}/workers/w/fail`, { incarnation }),
  },
  "a receipt": {
    path: "settlements[0].receipt",
    takes: never,
    asks: (receipt, queue) =>
      post(`${tasks(queue)}/settle`, { settlements: [{ receipt, outcome: "complete" }] }),
  },
  "the id in a receipt": {
    path: "settlements[0].receipt",
    takes: isId,
    asks: (id, queue) =>
      post(`${tasks(queue)}/settle`, {
        settlements: [{ receipt: `1.1.1.abcdefgh.${id}`, outcome: "complete" }],
      }),
  },
  "the group of a redrive": {
    path: "group",
    takes: isId,
    asks: (group, queue) => post(`/v1/queues/${queue}/redrive`, { group }),
  },
  "the cursor of a redrive": {
    path: "cursor",
    takes: never,
    asks: (cursor, queue) => post(`/v1/queues/${queue}/redrive`, { cursor }),
  },
  "the cursor of a purge": {
    path: "cursor",
    takes: never,
    asks: (cursor, queue) => post(`/v1/queues/${queue}/purge`, { state: "rejected", cursor }),
  },
  "the queue of a deep sweep": {
    path: "queue",
    takes: (name) => QUEUE.test(name),
    asks: (queue) => post("/v1/sweep", { deep: true, queue }),
  },
  "the cursor of a deep sweep": {
    path: "cursor",
    takes: never,
    asks: (cursor) => post("/v1/sweep", { deep: true, cursor }),
  },
  "the time zone of a schedule": {
    path: "timeZone",
    takes: never,
    asks: (timeZone, queue) => [
      "PUT",
      `/v1/queues/${queue}/schedules/s`,
      { json: { cron: "@daily", timeZone, payload: 1 } },
    ],
  },
};

const inQuery = (path: string, takes: Place["takes"], at: (queue: string) => string): Place => ({
  path,
  takes,
  asks: (name, queue) => {
    const url = `${at(queue)}${at(queue).includes("?") ? "&" : "?"}${path}=${encodeURIComponent(name)}`;
    return ["GET", url];
  },
});
/** The cursors of Redis's own scans are numbers. */
const isScan = (name: string) => name === "0";
export const inQueries: Readonly<Record<string, Place>> = {
  "the cursor of the queues": inQuery("cursor", isScan, () => "/v1/queues"),
  "the cursor of the tasks": inQuery("cursor", never, (queue) => `${tasks(queue)}?state=pending`),
  "the group of the tasks": inQuery("group", isId, (queue) => `${tasks(queue)}?state=pending`),
  "the cursor of the workers": inQuery("cursor", isScan, (queue) => `/v1/queues/${queue}/workers`),
  "the cursor of the schedules": inQuery("cursor", isScan, (queue) => `/v1/queues/${queue}/schedules`),
};

const inPath = (
  path: string,
  takes: Place["takes"],
  method: string,
  at: (name: string) => string,
): Place => ({
  path,
  takes,
  asks: (name, queue) => [method, at(encodeURIComponent(name)).replace(":queue", queue)],
});
export const inPaths: Readonly<Record<string, Place>> = {
  "a queue": inPath(
    "queue",
    (name) => QUEUE.test(name),
    "GET",
    (name) => `/v1/queues/${name}`,
  ),
  "a queue to pull from": inPath(
    "queue",
    (name) => QUEUE.test(name),
    "POST",
    (name) => `/v1/queues/${name}/tasks/pull`,
  ),
  "a task": inPath("id", isId, "GET", (name) => `/v1/queues/:queue/tasks/${name}`),
  "a task to cancel": inPath("id", isId, "POST", (name) => `/v1/queues/:queue/tasks/${name}/cancel`),
  "a task to delete": inPath("id", isId, "DELETE", (name) => `/v1/queues/:queue/tasks/${name}`),
  "a group": inPath("group", isId, "GET", (name) => `/v1/queues/:queue/groups/${name}`),
  "a worker": inPath("name", isId, "POST", (name) => `/v1/queues/:queue/workers/${name}/fail`),
  "a schedule": inPath(
    "schedule",
    (name) => isId(name) && name.length <= 100,
    "GET",
    (name) => `/v1/queues/:queue/schedules/${name}`,
  ),
};
