import { type BodyFault, readBounded } from "../../bounded-body.ts";
import { json, problemJson } from "../../respond.ts";
import type { DrainReport } from "../drain/types.ts";
import { onlyOptions } from "../../queue/core/validation.ts";
import { toConsole } from "../../queue/tasks/waker.ts";
import { WakeVerifier } from "./wake-verifier.ts";
import { WAKE } from "./webhook-waker.ts";

/** What is read of a wake, in bytes and ms. */
const BOUNDS = { limit: 10_000, within: 10_000 } as const;

export interface WakeReceiverOptions {
  /** As the waker has it; several while it is being changed. */
  readonly secret: string | readonly string[];
  /** Drains the queue; null for one on which nobody works here. */
  readonly drain: (queue: string) => Promise<DrainReport> | null;
  /** Told why a drain failed of which nobody waits for the answer. @default one line on the console */
  readonly onError?: ((error: unknown, queue: string) => void) | undefined;
}

export interface AfterResponse {
  /** Lets work go on after the response, where the platform can. */
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined;
}

/**
 * Answers a wake: looks at its signature, and drains the queue. With `waitUntil` the answer comes at once, 202;
 * without it when the work is done, 200 with the report; where that fails the call rejects with its fault. What is no
 * wake is 400, 401, 404, 405, 408 or 413, and one that came here before, 409: make one receiver, not one for each request.
 * @throws {SluiceError} `invalid_argument`, from the first request: for a secret of another form
 */
export function wakeReceiver(
  options: WakeReceiverOptions,
): (request: Request, after?: AfterResponse) => Promise<Response> {
  onlyOptions(options, ["secret", "drain", "onError"]);
  const { secret, drain, onError } = options;
  const verifier = new WakeVerifier(secret);
  return (request, { waitUntil } = {}) => answerWake(request, { verifier, drain, onError, waitUntil });
}

export interface WakeWork extends Omit<WakeReceiverOptions, "secret">, AfterResponse {
  readonly verifier: WakeVerifier;
}

/** As {@link wakeReceiver} does, for whom each request is another's work. */
export async function answerWake(request: Request, work: WakeWork): Promise<Response> {
  const { verifier, drain, onError = toConsole("drain"), waitUntil } = work;
  if (request.method !== "POST") return refused(405, "A wake is a POST.", { allow: "POST" });
  const read = await readBounded(request, BOUNDS);
  if (typeof read === "string") return refused(...unread[read]);
  const body = new TextDecoder().decode(read);
  const outcome = await verifier.verify(request.headers, body);
  if (outcome === "unsigned") {
    return refused(401, "The signature is missing, wrong, or more than five minutes old.");
  }
  if (outcome === "replayed") return refused(409, "This wake has been here before.");
  const queue = queueOf(body);
  if (queue === undefined) return refused(400, `A wake has the type ${WAKE} and names its queue.`);
  const working = drain(queue);
  if (working === null) return refused(404, "Nobody works on this queue here.");
  if (!waitUntil) return json(await working);
  waitUntil(working.catch((error: unknown) => onError(error, queue)));
  return json({ queue }, 202);
}

const unread: Readonly<Record<BodyFault, [status: number, detail: string]>> = {
  too_large: [413, `A wake has at most ${BOUNDS.limit} bytes.`],
  too_slow: [408, `A wake has to come within ${BOUNDS.within / 1_000} seconds.`],
  broken: [400, "The body could not be read to its end."],
};

function queueOf(body: string): string | undefined {
  try {
    const { type, data } = JSON.parse(body) as { type?: unknown; data?: { queue?: unknown } };
    return type === WAKE && typeof data?.queue === "string" ? data.queue : undefined;
  } catch {
    return undefined;
  }
}

function refused(status: number, detail: string, headers?: Record<string, string>): Response {
  return problemJson({ title: "Not a wake", status, detail }, headers);
}
