import { SluiceError, type SluiceErrorCode } from "../errors.ts";
import { Transient } from "../retry.ts";

/** What the server answered to one copy of a request: a reply, or a refusal by the code of its problem. */
export type Answer =
  | { readonly reply: object }
  | { readonly refused: string | undefined; readonly error: SluiceError };

/** What the server's problems mean here. Others are told by their status. */
const meanings: ReadonlyMap<unknown, SluiceErrorCode> = new Map([
  ["invalid_request", "invalid_argument"],
  ["invalid_json", "invalid_argument"],
  ["unauthorized", "unauthorized"],
  ["forbidden", "unauthorized"],
  ["auth_not_configured", "unauthorized"],
  ["not_found", "unsupported"],
  ["no_route", "unsupported"],
  ["method_not_allowed", "unsupported"],
  ["unsupported", "unsupported"],
  ["payload_too_large", "too_large"],
  ["queue_full", "queue_full"],
  ["idempotency_key_reused", "idempotency_key_reused"],
  ["newer_schema", "newer_schema"],
  ["redis_unauthorized", "redis_unauthorized"],
  ["redis_quota", "redis_quota"],
  ["redis_error", "redis_error"],
]);

/** A problem as the server writes it; of another's answer nothing of it may be there. */
interface Problem {
  readonly code?: unknown;
  readonly detail?: unknown;
  readonly errors?: readonly { readonly path?: unknown }[];
}

/**
 * Reads an answer. Its text goes into no error but for a problem's `detail`, `code` and path, which repeat no input.
 * @param has a member that every reply to this request has
 * @throws {Transient} if another copy may succeed
 */
export function readAnswer(response: Response, text: string, has: string): Answer {
  const { status } = response;
  const json = jsonObject(text);
  if (response.ok) {
    if (json === undefined) throw new Transient("a body that is cut or no JSON");
    return has in json ? { reply: json } : unexpected("with something that is no reply to the request");
  }
  // A browser shows of a redirect that is not followed nothing but its type.
  if (status < 400) return unexpected("with a redirect, which is not followed: url has to be where it leads");
  const isProblem = /^application\/problem\+json/i.test(response.headers.get("content-type") ?? "");
  const problem: Problem = (isProblem && json) || {};
  const code = typeof problem.code === "string" ? problem.code : undefined;
  const told = `HTTP ${status}${code === undefined ? "" : ` (${code})`}`;
  const meaning = meanings.get(code);
  if (meaning === undefined && (status === 408 || status === 429 || status >= 500)) {
    throw new Transient(told, { after: retryAfter(response.headers.get("retry-after")) });
  }
  const error = new SluiceError(
    meaning ?? meaningOf(status),
    detailOf(problem) ?? `the server answered ${told}`,
    pathOf(problem),
  );
  return { refused: code, error };
}

function unexpected(what: string): Answer {
  return { refused: undefined, error: new SluiceError("unexpected_reply", `the server answered ${what}`) };
}

function jsonObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    // The parser's message may quote the text.
    return undefined;
  }
}

/** Where something else than Sluice answers, such as a firewall. */
function meaningOf(status: number): SluiceErrorCode {
  if (status === 401 || status === 403) return "unauthorized";
  return status === 413 ? "too_large" : "unexpected_reply";
}

/** The queue's own errors end without a full stop. */
function detailOf({ detail }: Problem): string | undefined {
  return typeof detail === "string" ? detail.replace(/\.$/, "") : undefined;
}

/** As the caller wrote it, to whom the options of a pull beside settlements are options like others. */
function pathOf({ errors }: Problem): string | undefined {
  const path = Array.isArray(errors) ? errors[0]?.path : undefined;
  return typeof path === "string" && path !== "" ? path.replace(/^pull\./, "") : undefined;
}

/** Milliseconds of a Retry-After: seconds, or a date. */
function retryAfter(value: string | null): number {
  if (value === null) return 0;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return ms > 0 ? ms : 0;
}
