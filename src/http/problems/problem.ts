import { SluiceError } from "../../errors.ts";
import { problemJson } from "../../respond.ts";
import { Refused } from "../../retry.ts";
import { type ProblemCode, problems } from "./codes.ts";

/** One error in the caller's input: where it is, such as `tasks[3].delay`, and what is allowed there. */
export interface FieldError {
  readonly path: string;
  readonly message: string;
}

export interface ProblemDetails {
  /** What is wrong in this case. @default the meaning of the code */
  readonly detail?: string | undefined;
  readonly errors?: readonly FieldError[] | undefined;
  /** Identifies this occurrence in the log. */
  readonly instance?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Of a publish: what became of each message. */
  readonly published?: readonly object[] | undefined;
}

/** Thrown to end a request with a problem. */
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

/** The problem for one invalid field. */
export function invalid(path: string, message: string): Problem {
  return invalidFields([{ path, message }]);
}

/** The problem for invalid fields. `detail` has the first three, `errors` all of them. */
export function invalidFields(errors: readonly FieldError[]): Problem {
  const shown = errors.slice(0, 3).map(({ path, message }) => `${path || "The body"} ${message}`);
  const more = errors.length - shown.length;
  const detail = `${shown.join("; ")}${more > 0 ? `; and ${more} more` : ""}.`;
  return new Problem("invalid_request", { detail, errors });
}

export const taskNotFound = () =>
  new Problem("not_found", {
    detail:
      "There is no task with this id in the queue: it was never enqueued, its record has expired, or it was removed.",
  });

/**
 * Turns an error of the queue into a problem. The caller gets the full message only for errors in the
 * caller's input. Redis's own words stay on the server.
 * @param method of the request: one that only reads has no effect that its caller has to ask for
 */
export function problemOf(error: unknown, method: string): Problem {
  if (error instanceof Problem) return error;
  if (!(error instanceof SluiceError)) return new Problem("internal");
  if (error.cause instanceof Refused) return new Problem("redis_not_writable");
  switch (error.code) {
    case "invalid_argument":
    case "too_large":
      return new Problem(error.code === "too_large" ? "payload_too_large" : "invalid_request", {
        detail: `${error.message}.`,
        errors: error.path === undefined ? undefined : [fieldError(error.message, error.path)],
      });
    case "aborted":
    case "redis_unreachable":
      return new Problem("redis_unreachable", {
        detail: /^(?:GET|HEAD)$/.test(method) ? "Redis could not be reached in time." : undefined,
      });
    case "not_installed":
      return new Problem("misconfigured", { detail: `${error.message}.` });
    case "undecryptable":
    case "unreachable":
      // Only a client decrypts, and only a client calls a server.
      return new Problem("internal");
    default:
      return new Problem(error.code);
  }
}

/** The queue's messages begin with the path: "delay must be …". */
function fieldError(message: string, path: string): FieldError {
  return { path, message: message.startsWith(`${path} `) ? message.slice(path.length + 1) : message };
}

/** The body of a problem (RFC 9457). `type` links to its explanation on the documentation page. */
export function problemBody({ code, details }: Problem) {
  const { status, title, meaning } = problems[code];
  const { detail = meaning, errors, instance, published } = details;
  return { type: `/docs#${code}`, title, status, code, detail, errors, instance, published };
}

export function problemResponse(problem: Problem): Response {
  return problemJson(problemBody(problem), problem.details.headers);
}
