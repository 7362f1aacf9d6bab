import { SluiceError } from "../../errors.ts";
import { respond } from "../responses/respond.ts";

/**
 * Every way in which a request can fail: the stable `code`, its HTTP status, a title, and what it
 * means for the caller. Codes may be added; existing ones keep their meaning.
 */
export const problems = {
  invalid_request: {
    status: 400,
    title: "The request is not valid",
    meaning: "A field, parameter or header is missing, unknown or out of bounds; `errors` lists every fault.",
  },
  invalid_json: {
    status: 400,
    title: "The body is not JSON",
    meaning: "The body is no JSON in UTF-8, or is nested more than 1,000 levels deep.",
  },
  unauthorized: {
    status: 401,
    title: "Not authorized",
    meaning: "There is no bearer token, or none that is known here.",
  },
  forbidden: {
    status: 403,
    title: "Not allowed",
    meaning: "The token is known, but has not the scope, or not for this queue.",
  },
  not_found: {
    status: 404,
    title: "Not found",
    meaning: "There is no task with that id: it never was, or its record has expired; or no such schedule.",
  },
  no_route: {
    status: 404,
    title: "No such route",
    meaning: "Nothing is served at this path; see /docs.",
  },
  method_not_allowed: {
    status: 405,
    title: "Method not allowed",
    meaning: "The route does not answer to this method; the `Allow` header lists those that it does.",
  },
  body_too_slow: {
    status: 408,
    title: "The body came too slowly",
    meaning:
      "The body had not come to its end in the time that `detail` names. Nothing was done: send it again.",
  },
  already_ended: {
    status: 409,
    title: "The task has ended already",
    meaning: "A completed or rejected task cannot be cancelled.",
  },
  alive: {
    status: 409,
    title: "The task has not ended",
    meaning: "A pending, delayed or working task cannot be deleted; cancel it first.",
  },
  still_working: {
    status: 409,
    title: "Tasks are being worked on",
    meaning:
      "The queue was not deleted, for tasks of it are being worked on. Pause it and wait, or delete it with `force=true`.",
  },
  idempotency_key_reused: {
    status: 409,
    title: "The Idempotency-Key was used for other tasks",
    meaning:
      "An earlier enqueue with this Idempotency-Key had other tasks. Nothing was written. Use a new key for new tasks.",
  },
  lease_lost: {
    status: 409,
    title: "Another lease",
    meaning:
      "The task is not under the expected lease; nothing was changed. In a settle it is the `code` of one result.",
  },
  worker_lost: {
    status: 409,
    title: "The worker was failed",
    meaning:
      "The tasks that it had are others' by now: stop all work. Its next pull, or a heartbeat under a new incarnation, makes it a worker again. Nothing was changed.",
  },
  payload_too_large: {
    status: 413,
    title: "Too large",
    meaning: "The body, a payload or a result is larger than the limit that `detail` names.",
  },
  unsupported_media_type: {
    status: 415,
    title: "Not application/json",
    meaning: "A body has to be `Content-Type: application/json`, in UTF-8, without a Content-Encoding.",
  },
  queue_full: {
    status: 429,
    title: "The queue is full",
    meaning:
      "As many tasks wait in the queue as its `maxPending` allows, or Redis is full, or the queue has reached the size that Redis allows. Nothing was written; enqueue again later.",
  },
  internal: {
    status: 500,
    title: "Internal error",
    meaning: "A fault of this server. `instance` stands in its log too.",
  },
  unsupported: {
    status: 501,
    title: "Not possible here",
    meaning:
      "The way in which this server reaches Redis cannot subscribe to a channel, so there are no events.",
  },
  redis_unauthorized: {
    status: 502,
    title: "Redis refused this server",
    meaning: "Redis refused the server's credentials, or they do not allow the command.",
  },
  redis_error: {
    status: 502,
    title: "Redis answered with an error",
    meaning: "Redis refused a command for a reason that is none of the others.",
  },
  unexpected_reply: {
    status: 502,
    title: "Redis answered with something else",
    meaning: "Redis, or what answers in its place, sent what is no reply to the command.",
  },
  redis_quota: {
    status: 503,
    title: "The quota of Redis is used up",
    meaning: "The Redis account has used up its requests.",
  },
  newer_schema: {
    status: 503,
    title: "A newer release wrote this record",
    meaning: "Deploy that release of Sluice here too. Nothing was changed.",
  },
  auth_not_configured: {
    status: 503,
    title: "No token is configured",
    meaning: "SLUICE_TOKENS is not set, nor, for cron, CRON_SECRET: nobody is let in, and nothing is done.",
  },
  misconfigured: {
    status: 503,
    title: "The configuration is not valid",
    meaning: "The server's environment is incomplete or malformed; `detail` says where.",
  },
  redis_unreachable: {
    status: 504,
    title: "Redis did not answer",
    meaning:
      "Redis could not be reached in time. The request may or may not have taken effect: send it again with the same Idempotency-Key.",
  },
} as const satisfies Record<string, { status: number; title: string; meaning: string }>;

export type ProblemCode = keyof typeof problems;

/** One fault of the caller's input: where it is, such as `tasks[3].delay`, and what is allowed there. */
export interface FieldFault {
  readonly path: string;
  readonly message: string;
}

export interface ProblemDetails {
  /** What is wrong in this very case. @default the meaning of the code */
  readonly detail?: string | undefined;
  readonly errors?: readonly FieldFault[] | undefined;
  /** Names this occurrence, to find it in the log. */
  readonly instance?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Ends a request with a problem. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly code: ProblemCode;
  readonly details: ProblemDetails;

  constructor(code: ProblemCode, details: ProblemDetails = {}) {
    super(details.detail ?? problems[code].meaning);
    this.code = code;
    this.details = details;
  }
}

/** The one field that is wrong. */
export function invalid(path: string, message: string): Problem {
  return invalidFields([{ path, message }]);
}

export function invalidFields(errors: readonly FieldFault[]): Problem {
  const told = errors.slice(0, 3).map(({ path, message }) => `${path || "The body"} ${message}`);
  const untold = errors.length - told.length;
  const detail = `${told.join("; ")}${untold > 0 ? `; and ${untold} more` : ""}.`;
  return new Problem("invalid_request", { detail, errors });
}

/**
 * The problem that an error from the queue means. What Redis said stays on the server: only the
 * caller's own faults are told in full.
 */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (!(error instanceof SluiceError)) return new Problem("internal");
  switch (error.code) {
    case "invalid_argument":
      return new Problem("invalid_request", {
        detail: `${error.message}.`,
        errors: error.path === undefined ? undefined : [faultOf(error.message, error.path)],
      });
    case "too_large":
      return new Problem("payload_too_large", { detail: `${error.message}.` });
    case "aborted":
      return new Problem("redis_unreachable");
    case "not_installed":
      return new Problem("misconfigured", { detail: `${error.message}.` });
    case "undecryptable":
    case "unreachable":
      // Only a client decrypts, and only a client has a server to reach.
      return new Problem("internal");
    default:
      return new Problem(error.code);
  }
}

/** The queue's messages begin with the path: "delay must be …". */
function faultOf(message: string, path: string): FieldFault {
  const told = message.startsWith(`${path} must `);
  return { path, message: told ? message.slice(path.length + 1) : message };
}

/** What RFC 9457 says of a problem. `type` leads to the explanation on the documentation page. */
export function problemBody({ code, details }: Problem) {
  const { status, title, meaning } = problems[code];
  const { detail = meaning, errors, instance } = details;
  return { type: `/docs#${code}`, title, status, code, detail, errors, instance };
}

export function problemResponse(problem: Problem): Response {
  const body = problemBody(problem);
  return respond(JSON.stringify(body), body.status, {
    "content-type": "application/problem+json",
    ...problem.details.headers,
  });
}
