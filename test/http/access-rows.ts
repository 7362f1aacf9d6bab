import type { Scope } from "../../src/http/auth/tokens.ts";

/**
 * The credentials that open a route: `cron` is the cron secret. A route without scopes is open to every
 * caller.
 */
export interface AccessRow {
  readonly scopes: readonly (Scope | "cron")[];
  /** True if the route answers without a request to Redis. */
  readonly withoutRedis?: true;
  /** The queue that the route is for, if it names none. */
  readonly queue?: string;
  /** A query for the path, so that a call ends by itself, or that names the queue as `:queue`. */
  readonly query?: string;
  /**
   * A body that the route takes, which may name the queue as `:queue`: if a caller were let in wrongly, the call would have
   * its effect.
   */
  readonly json?: unknown;
}

const worker = { name: "w" };

/**
 * The access of every route, written down a second time, with the routes as the app names them. A route that
 * has no row here fails the tests.
 */
export const accessRows: Readonly<Record<string, AccessRow>> = {
  "GET /": { scopes: [] },
  "GET /health": { scopes: [] },
  "GET /openapi.json": { scopes: [] },
  "GET /docs": { scopes: [] },

  "POST /v1/queues/:queue/tasks": { scopes: ["enqueue"], json: { payload: 1 } },
  "GET /v1/queues/:queue/tasks/:id": { scopes: ["enqueue", "view"] },
  "POST /v1/queues/:queue/tasks/:id/cancel": { scopes: ["enqueue"] },
  "DELETE /v1/queues/:queue/keys/:key": { scopes: ["enqueue"] },

  "POST /v1/queues/:queue/tasks/pull": { scopes: ["consume"], json: { worker } },
  "POST /v1/queues/:queue/tasks/settle": {
    scopes: ["consume"],
    json: { settlements: [], pull: { max: 10 } },
  },
  "POST /v1/queues/:queue/workers/heartbeat": { scopes: ["consume"], json: { worker } },

  "POST /v1/flows": {
    scopes: ["enqueue"],
    json: { tasks: [{ ref: "a", queue: ":queue", payload: 1 }] },
  },

  "GET /v1/flows/:flow": { scopes: ["enqueue", "view"] },
  "POST /v1/flows/:flow/cancel": { scopes: ["enqueue"] },
  "POST /v1/flows/:flow/redrive": { scopes: ["admin"] },
  "GET /v1/queues/:queue/tasks/:id/before": { scopes: ["consume"] },
  "POST /v1/queues/:queue/tasks/:id/before": {
    scopes: ["consume"],
    json: { receipt: "1.1.1.q7XnRk2ZtB0aVd9L.known", ref: "r", tasks: [] },
    withoutRedis: true,
  },

  "POST /v1/topics/:topic/publish": { scopes: ["enqueue"], json: { payload: 1 } },
  "POST /v1/topics/:topic/preview": { scopes: ["enqueue"] },
  "GET /v1/topics": { scopes: ["view"] },
  "GET /v1/topics/:topic": { scopes: ["view"] },
  "PUT /v1/topics/:pattern/subscriptions/:queue": { scopes: ["admin"] },
  "DELETE /v1/topics/:pattern/subscriptions/:queue": { scopes: ["admin"] },
  "POST /v1/topics/:topic/subscriptions/:queue/replay": { scopes: ["admin"], json: { since: "1h" } },
  "POST /v1/endpoints": { scopes: ["admin"], queue: "bills", json: { url: "https://a.example" } },
  "POST /v1/endpoints/send": { scopes: ["enqueue"], queue: "bills", json: { type: "t", payload: 1 } },
  "GET /v1/endpoints": { scopes: ["view"], queue: "bills" },
  "GET /v1/endpoints/:endpoint": { scopes: ["view"], queue: "bills" },
  "PATCH /v1/endpoints/:endpoint": { scopes: ["admin"], queue: "bills", json: { maxWorking: 1 } },
  "POST /v1/endpoints/:endpoint/disable": { scopes: ["admin"], queue: "bills" },
  "POST /v1/endpoints/:endpoint/enable": { scopes: ["admin"], queue: "bills" },
  "POST /v1/endpoints/:endpoint/rotate": { scopes: ["admin"], queue: "bills" },
  "POST /v1/endpoints/:endpoint/replay": { scopes: ["admin"], queue: "bills", json: { since: 0 } },
  "DELETE /v1/endpoints/:endpoint": { scopes: ["admin"], queue: "bills" },

  "GET /v1/token": { scopes: ["enqueue", "consume", "view"], withoutRedis: true },
  "GET /v1/diagnostics": { scopes: ["view"] },
  "GET /v1/queues/:queue/diagnostics": { scopes: ["view"] },
  "PUT /v1/queues/:queue/declaration": { scopes: ["admin"], json: { settings: { maxWorking: 1 } } },

  "GET /metrics": { scopes: ["view"] },
  "GET /v1/queues/:queue/load": { scopes: ["view"] },
  "GET /v1/search": { scopes: ["view"], query: "?text=t&queues=:queue" },
  "GET /v1/overview": { scopes: ["view"], query: "?queues=:queue" },
  "GET /v1/health/queues": { scopes: ["view"] },
  "GET /v1/queues": { scopes: ["view"] },
  "GET /v1/queues/:queue": { scopes: ["view"] },
  "DELETE /v1/queues/:queue": { scopes: ["admin"], query: "?force=true" },
  "POST /v1/queues/:queue/pause": { scopes: ["admin"] },
  "POST /v1/queues/:queue/resume": { scopes: ["admin"] },
  "GET /v1/queues/:queue/settings": { scopes: ["view"] },
  "PATCH /v1/queues/:queue/settings": { scopes: ["admin"], json: { statistics: true } },
  "GET /v1/queues/:queue/groups": { scopes: ["view"] },
  "GET /v1/queues/:queue/stopped-groups": { scopes: ["view"] },
  "POST /v1/queues/:queue/tasks/:id/skip": { scopes: ["admin"] },
  "GET /v1/queues/:queue/groups/:group": { scopes: ["view"] },
  "PATCH /v1/queues/:queue/groups/:group": { scopes: ["admin"], json: { weight: 2 } },
  "GET /v1/queues/:queue/partitions": { scopes: ["view"] },
  "PUT /v1/queues/:queue/partitions": { scopes: ["admin"], json: { count: 2 } },
  "GET /v1/queues/:queue/statistics": { scopes: ["view"] },
  "GET /v1/queues/:queue/events": { scopes: ["view"], query: "?wait=1" },
  "GET /v1/queues/:queue/tasks": { scopes: ["view"], query: "?state=pending&payloads=true" },
  "GET /v1/queues/:queue/dead-letters": { scopes: ["view"] },
  "POST /v1/queues/:queue/tasks/cancel": { scopes: ["enqueue"], json: { ids: ["t"] } },
  "POST /v1/queues/:queue/tasks/delete": { scopes: ["admin"], json: { ids: ["t"] } },
  "DELETE /v1/queues/:queue/tasks/:id": { scopes: ["admin"] },
  "POST /v1/queues/:queue/redrive": { scopes: ["admin"], json: {} },
  "POST /v1/queues/:queue/purge": { scopes: ["admin"], json: { state: "pending" } },
  "GET /v1/queues/:queue/workers": { scopes: ["view"] },
  "DELETE /v1/queues/:queue/workers/:name": { scopes: ["admin"] },
  "POST /v1/queues/:queue/workers/:name/fail": { scopes: ["admin"] },
  "GET /v1/queues/:queue/schedules": { scopes: ["view"] },
  "GET /v1/queues/:queue/schedules/:schedule": { scopes: ["view"] },
  "PUT /v1/queues/:queue/schedules/:schedule": {
    scopes: ["admin"],
    json: { every: "1h", payload: 1 },
  },
  "DELETE /v1/queues/:queue/schedules/:schedule": { scopes: ["admin"] },
  "POST /v1/queues/:queue/schedules/:schedule/pause": { scopes: ["admin"] },
  "POST /v1/queues/:queue/schedules/:schedule/resume": { scopes: ["admin"] },
  "POST /v1/queues/:queue/schedules/:schedule/run": { scopes: ["admin"] },

  "POST /v1/sweep": { scopes: ["admin", "cron"] },
  "GET /v1/sweep": { scopes: ["cron"] },
};

/** A route, ready to be called. */
export interface Callable extends AccessRow {
  readonly route: string;
  readonly method: string;
  /** True if the path, its query or its body names a queue. */
  readonly ofQueue: boolean;
  /** With the names filled in. */
  path(queue: string): string;
  /** With the name of the queue filled in. `json` has one. */
  body(queue: string): unknown;
}

export const callables: readonly Callable[] = Object.entries(accessRows).map(([route, row]) => {
  const [method = "", pattern = ""] = route.split(" ");
  const path = (queue: string) =>
    pattern
      .replace(":flow", "known@:queue")
      // A token for a topic is one for a queue of its name.
      .replace(/:(?:topic|pattern)/, method === "GET" ? "known" : ":queue")
      .replace(/:(id|group|key|name|schedule|endpoint)/, "known")
      .concat(row.query ?? "")
      .replaceAll(":queue", queue);
  const json = JSON.stringify(row.json);
  const body = (queue: string): unknown => json && JSON.parse(json.replace(":queue", queue));
  const ofQueue = `${path(":queue")} ${json}`.includes(":queue");
  return { ...row, json: body("jobs"), route, method, ofQueue, path, body };
});
