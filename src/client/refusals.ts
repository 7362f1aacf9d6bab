/** What the server answers if it does not do what it was asked. */
import { SluiceError, type SluiceErrorCode } from "../errors.ts";
import { Transient } from "../retry.ts";

/** The problems whose code is that of the error too. */
const sameCodes = [
  "unauthorized",
  "unsupported",
  "queue_full",
  "idempotency_key_reused",
  "newer_schema",
  "offload_failed",
  "redis_unauthorized",
  "redis_quota",
  "redis_error",
] as const;

/** The error codes for the server's problems. Other responses are judged by their status. */
const errorCodes: ReadonlyMap<unknown, SluiceErrorCode> = new Map<string, SluiceErrorCode>([
  ...sameCodes.map((code) => [code, code] as const),
  ["invalid_request", "invalid_argument"],
  ["invalid_json", "invalid_argument"],
  ["forbidden", "unauthorized"],
  ["auth_not_configured", "unauthorized"],
  ["not_found", "unsupported"],
  ["no_route", "unsupported"],
  ["method_not_allowed", "unsupported"],
  ["payload_too_large", "too_large"],
]);

/** A problem as Sluice writes it. A problem of another server may lack any of the fields. */
interface Problem {
  readonly code?: unknown;
  readonly detail?: unknown;
  readonly errors?: readonly { readonly path?: unknown }[];
}

/**
 * Reads a response without a reply. Errors repeat only a problem's `detail`, `code` and path, which contain no input.
 * @param json its body; undefined if it is not a JSON object
 * @param refusals codes of problems to return instead of throwing them
 * @returns the code of a refusal
 * @throws {Transient} if another copy may succeed
 * @throws {SluiceError} otherwise
 */
export function refusalOf<Refusal extends string>(
  response: Response,
  json: object | undefined,
  refusals: readonly Refusal[],
): Refusal {
  const { status } = response;
  if (response.ok) {
    if (json === undefined) throw new Transient("a body that is cut off or not JSON");
    throw unexpected("with a body that is not a reply to the request");
  }
  // In browsers a redirect that is not followed has the status 0.
  if (status < 400) throw unexpected("with a redirect, which is not followed; url must be its target");
  const isProblem = /^application\/problem\+json/i.test(response.headers.get("content-type") ?? "");
  const problem: Problem = (isProblem && json) || {};
  const code = typeof problem.code === "string" ? problem.code : undefined;
  const refusal = refusals.find((one) => one === code);
  if (refusal !== undefined) return refusal;
  const described = `HTTP ${status}${code === undefined ? "" : ` (${code})`}`;
  const errorCode = errorCodes.get(code);
  if (errorCode === undefined && (status === 408 || status === 429 || status >= 500)) {
    throw new Transient(described, { after: retryAfter(response.headers.get("retry-after")) });
  }
  throw new SluiceError(
    errorCode ?? codeOf(status),
    detailOf(problem) ?? `the server answered ${described}`,
    pathOf(problem),
  );
}

function unexpected(what: string): SluiceError {
  return new SluiceError("unexpected_reply", `the server answered ${what}`);
}

/** The code for a response that is not from Sluice, but from a firewall, for example. */
function codeOf(status: number): SluiceErrorCode {
  if (status === 401 || status === 403) return "unauthorized";
  return status === 413 ? "too_large" : "unexpected_reply";
}

/** The detail of a problem, without its full stop, as in the queue's own errors. */
function detailOf({ detail }: Problem): string | undefined {
  return typeof detail === "string" ? detail.replace(/\.$/, "") : undefined;
}

/** The path of an invalid option, as the caller of the client knows it: without the prefix `pull.`. */
function pathOf({ errors }: Problem): string | undefined {
  const path = Array.isArray(errors) ? errors[0]?.path : undefined;
  return typeof path === "string" && path !== "" ? path.replace(/^pull\./, "") : undefined;
}

/** Reads a Retry-After header, which holds seconds or a date. Returns ms. */
function retryAfter(value: string | null): number {
  if (value === null) return 0;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return ms > 0 ? ms : 0;
}
