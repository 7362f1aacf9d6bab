import { SluiceError } from "../errors.ts";
import { json } from "../respond.ts";

/** An error as QStash answers it: `{ "error": "…" }`. Its client throws a `QstashError` with the body as message. */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const UNAVAILABLE = 503;

/** The error for a request that is wrong. */
export const badRequest = (message: string) => new Failure(400, message);

/** The error for what is not here. */
export const notFound = (what: string) => new Failure(404, `${what} not found`);

/** The error for a call of QStash that this dialect does not have. */
export const missing = (what: string, instead: string) =>
  new Failure(501, `${what} is not supported by this server: ${instead}`);

/** What to use in place of Upstash Workflow. */
export const WORKFLOW = "tasks that wait for others are the flows of sluice-queue/flows";

/** The response for an error. That of Redis or of this server itself is logged, and not shown. */
export function failureResponse(failure: Failure): Response {
  return json({ error: failure.message }, failure.status);
}

/** The error in the input that an exception means; undefined if it is another one. */
export function failureOf(error: unknown): Failure | undefined {
  if (error instanceof Failure) return error;
  if (!(error instanceof SluiceError)) return undefined;
  if (error.code === "invalid_argument") return badRequest(error.message);
  if (error.code === "unsupported") return new Failure(501, error.message);
  if (error.code === "too_large") return new Failure(413, error.message);
  // The client takes each 429 for a limit of its plan, and shows the limits of the headers.
  return error.code === "queue_full" ? new Failure(UNAVAILABLE, error.message) : undefined;
}

/** Whether the same call would fail again, so that it need not be repeated. */
export function isLasting(error: unknown): boolean {
  const failure = failureOf(error);
  return failure !== undefined && failure.status !== UNAVAILABLE;
}
