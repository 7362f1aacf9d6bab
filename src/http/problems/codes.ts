/**
 * All problems, by their stable `code`: the HTTP status, a title, and what the caller should know and do. New
 * codes may be added. Existing codes keep their meaning.
 */
export const problems = {
  invalid_request: {
    status: 400,
    title: "Invalid request",
    meaning:
      "A field, parameter or header is missing, unknown or out of bounds. `errors` lists each of them: where it is and what is allowed.",
  },
  invalid_json: {
    status: 400,
    title: "Invalid JSON",
    meaning: "The body is not JSON in UTF-8, or it is nested more than 1,000 levels deep.",
  },
  unauthorized: {
    status: 401,
    title: "Unauthorized",
    meaning: "The request has no bearer token, or one that this server does not know.",
  },
  forbidden: {
    status: 403,
    title: "Forbidden",
    meaning:
      "The token does not have the scope that the route needs, or is not valid for this queue. Or it hides payloads, and the response would show them.",
  },
  foreign_origin: {
    status: 403,
    title: "Request of another origin",
    meaning:
      "The dashboard answers only requests of its own page. Their `Origin` has the host of this server, and their `Sec-Fetch-Site` is `same-origin`.",
  },
  not_found: {
    status: 404,
    title: "Not found",
    meaning:
      "There is no task or flow with this id, or no schedule with this name. A task is also not found after its record has expired.",
  },
  no_route: {
    status: 404,
    title: "No such route",
    meaning: "This path does not exist. `/docs` lists all routes.",
  },
  method_not_allowed: {
    status: 405,
    title: "Method not allowed",
    meaning: "The route does not support this method. The `Allow` header lists those that it supports.",
  },
  body_too_slow: {
    status: 408,
    title: "Body too slow",
    meaning:
      "The body did not arrive completely within the time that `detail` names. Nothing was done. Send the request again.",
  },
  already_ended: {
    status: 409,
    title: "Task has already ended",
    meaning: "A completed or rejected task cannot be cancelled.",
  },
  alive: {
    status: 409,
    title: "Task has not ended",
    meaning: "A pending, delayed or working task cannot be deleted. Cancel it first.",
  },
  not_dead_letter: {
    status: 409,
    title: "Not a dead letter",
    meaning: "Only a dead letter can be skipped.",
  },
  not_blocked: {
    status: 409,
    title: "Task is not blocked",
    meaning: "What should wait for the new tasks was rejected or cancelled. Nothing was added.",
  },
  still_working: {
    status: 409,
    title: "Tasks are working",
    meaning:
      "The queue or the worker has tasks that are working, or the queue has tasks of flows that have not ended. Pause the queue and wait, cancel the flows, or delete it with `force=true`; of a dead worker, take the tasks back.",
  },
  idempotency_key_reused: {
    status: 409,
    title: "Idempotency-Key was used for other tasks",
    meaning:
      "An earlier enqueue with this Idempotency-Key had other tasks. Nothing was written. Use a new key for new tasks.",
  },
  lease_lost: {
    status: 409,
    title: "Lease lost",
    meaning:
      "The task is not under the expected lease. Nothing was changed. In a settle this is the `code` of one result.",
  },
  worker_lost: {
    status: 409,
    title: "Worker was failed",
    meaning:
      "The worker's tasks were taken back and may be with other workers. Nothing was changed. Stop all work on them. The next pull, or a heartbeat with a new incarnation, registers the worker again.",
  },
  payload_too_large: {
    status: 413,
    title: "Too large",
    meaning: "The body, a payload or a result is larger than the limit that `detail` names.",
  },
  unsupported_media_type: {
    status: 415,
    title: "Unsupported media type",
    meaning: "A body must be `Content-Type: application/json`, in UTF-8, without a Content-Encoding.",
  },
  queue_full: {
    status: 429,
    title: "Queue is full",
    meaning:
      "The queue has as many pending tasks as its `maxPending` allows, or Redis is full, or the queue has reached the size that Redis allows. Nothing was written. Enqueue again later.",
  },
  internal: {
    status: 500,
    title: "Internal error",
    meaning: "The server failed. Its log has the details under the same `instance`.",
  },
  unsupported: {
    status: 501,
    title: "Not supported here",
    meaning:
      "The server has no events, because its connection to Redis cannot subscribe to a channel; or no deep sweep, schedules, strict order, flows or debounce, because its option is off. `detail` says which.",
  },
  redis_unauthorized: {
    status: 502,
    title: "Redis refused the credentials",
    meaning: "Redis refused the server's credentials, or they do not allow the command.",
  },
  redis_error: {
    status: 502,
    title: "Redis returned an error",
    meaning:
      "Redis refused a command for a reason without a code of its own. The server's log has the details.",
  },
  unexpected_reply: {
    status: 502,
    title: "Unexpected reply from Redis",
    meaning: "Redis, or a server in front of it, sent something that is not a reply to the command.",
  },
  offload_failed: {
    status: 502,
    title: "Object store failed",
    meaning:
      "A payload could not be written to the server's object store or read from it, or the server has none. An enqueue has written no task. The server's log has the details.",
  },
  redis_quota: {
    status: 503,
    title: "Redis quota is used up",
    meaning: "The Redis account has used up its quota of requests.",
  },
  redis_not_writable: {
    status: 503,
    title: "Redis takes no writes",
    meaning:
      "Redis answered, but took no writes until the time was up: it is a read-only replica, is loading, or has too few replicas. Send the request again with the same Idempotency-Key.",
  },
  newer_schema: {
    status: 503,
    title: "Record of a newer release",
    meaning:
      "A newer release of Sluice wrote this record: deploy that release here too. Or the queue has a strict order or flows: give the server the option `order` or `flows`. Nothing was changed.",
  },
  auth_not_configured: {
    status: 503,
    title: "No token is configured",
    meaning: "The server has no SLUICE_TOKENS. The route accepts no request until they are set.",
  },
  unhealthy: {
    status: 503,
    title: "Queues are not healthy",
    meaning:
      "The health of the queues is as bad as the parameter `fail` names, or worse. `detail` has up to ten findings; without `fail`, the response has all of them.",
  },
  misconfigured: {
    status: 503,
    title: "Invalid configuration",
    meaning: "The server's environment is incomplete or invalid. `detail` names the variable.",
  },
  redis_unreachable: {
    status: 504,
    title: "Redis did not answer",
    meaning:
      "Redis could not be reached in time. The request may or may not have taken effect. Send it again with the same Idempotency-Key.",
  },
} as const satisfies Record<string, { status: number; title: string; meaning: string }>;

export type ProblemCode = keyof typeof problems;
