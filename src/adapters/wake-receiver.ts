import { type BodyFault, readBounded } from "../bounded-body.ts";
import { json, problemJson } from "../respond.ts";
import type { DrainReport } from "../drain/types.ts";
import { onlyOptions } from "../kernel/options/validation.ts";
import { WakeVerifier, WAKE } from "../features/waking/index.ts";
import { drainFailed } from "../log/lines.ts";
import { toConsole } from "../log/logger.ts";

/** Largest body of a wake, in bytes, and how long it may take to arrive, ms. */
const BOUNDS = { limit: 10_000, within: 10_000 } as const;

export interface WakeReceiverOptions {
  /** The secret of the {@link webhookWaker}; several while it is being changed. */
  readonly secret: string | readonly string[];
  /** Drains a queue; returns null for a queue that has no consumer here. */
  readonly drain: (queue: string) => Promise<DrainReport> | null;
  /** Called when a drain fails that runs after the response. @default writes one line to the console */
  readonly onError?: ((error: unknown, queue: string) => void) | undefined;
}

export interface AfterResponse {
  /** Lets work go on after the response, if the platform can. */
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined;
}

/**
 * Makes a function that answers wakes: it verifies the signature, and drains the queue. Make one receiver for
 * all requests, since it remembers wakes to refuse copies.
 *
 * The function takes a request, and `{ waitUntil }` if the platform has it. With `waitUntil` it responds 202
 * at once. Otherwise it responds 200 with the drain's report, or rejects with the drain's error. A request
 * that is not a wake gets 400, 401, 404, 405, 408 or 413; a copy of an earlier wake gets 409.
 * @param options.secret `whsec_` followed by 24 to 64 bytes in base64
 * @param options.drain drains a queue, or returns null if it has no consumer here
 * @returns the function. Its first call rejects with `invalid_argument` if a secret has the wrong form
 * @throws {SluiceError} `invalid_argument` for an unknown option
 * @example
 * const receive = wakeReceiver({
 *   secret,
 *   drain: (queue) => (queue === "emails" ? drain(emails, send) : null),
 * });
 * const response = await receive(request, { waitUntil: (work) => ctx.waitUntil(work) });
 */
export function wakeReceiver(
  options: WakeReceiverOptions,
): (request: Request, after?: AfterResponse) => Promise<Response> {
  onlyOptions(options, ["secret", "drain", "onError"]);
  const { secret, drain, onError } = options;
  const verifier = new WakeVerifier(secret);
  return (request, { waitUntil } = {}) => answerWake(request, { verifier, drain, onError, waitUntil });
}

export interface WakeHandling extends Omit<WakeReceiverOptions, "secret">, AfterResponse {
  readonly verifier: WakeVerifier;
}

/** Answers one wake, as {@link wakeReceiver} does. */
export async function answerWake(request: Request, handling: WakeHandling): Promise<Response> {
  const { verifier, drain, waitUntil } = handling;
  const { onError = (error, name) => toConsole(drainFailed(name, error)) } = handling;
  if (request.method !== "POST") return refused(405, "A wake must be a POST.", { allow: "POST" });
  const read = await readBounded(request, BOUNDS);
  if (typeof read === "string") return refused(...bodyFaults[read]);
  const body = new TextDecoder().decode(read);
  const verified = await verifier.verify(request.headers, body);
  if (verified === "unsigned") {
    return refused(401, "The signature is missing, wrong, or more than five minutes old.");
  }
  if (verified === "replayed") return refused(409, "This wake was received before.");
  const queue = queueOf(body);
  if (queue === undefined)
    return refused(400, `A wake must have the type ${WAKE} and the name of its queue.`);
  const working = drain(queue);
  if (working === null) return refused(404, "This queue has no consumer here.");
  if (!waitUntil) return json(await working);
  waitUntil(working.catch((error: unknown) => onError(error, queue)));
  return json({ queue }, 202);
}

const bodyFaults: Readonly<Record<BodyFault, [status: number, detail: string]>> = {
  too_large: [413, `A wake must have at most ${BOUNDS.limit} bytes.`],
  too_slow: [408, `A wake must arrive within ${BOUNDS.within / 1_000} seconds.`],
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
