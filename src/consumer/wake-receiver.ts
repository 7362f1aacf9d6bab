import { isSigned, signingKey } from "./signature.ts";
import { WAKE } from "./webhook-waker.ts";
import type { DrainReport } from "./drain.ts";
import { onlyOptions } from "../queue/names.ts";
import { toConsole } from "../queue/waker.ts";

const MAX_BODY = 10_000;

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
 * wake is 400, 401, 404, 405 or 413.
 * @throws {SluiceError} `invalid_argument`, from the first request: for a secret of another form
 */
export function wakeReceiver(
  options: WakeReceiverOptions,
): (request: Request, after?: AfterResponse) => Promise<Response> {
  onlyOptions(options, ["secret", "drain", "onError"]);
  const { secret, drain, onError = toConsole("drain") } = options;
  let keys: CryptoKey[] | undefined;

  return async (request, { waitUntil } = {}) => {
    if (request.method !== "POST") return refused(405, "A wake is a POST.", { allow: "POST" });
    const body = await textOf(request);
    if (body === undefined) return refused(413, `A wake has at most ${MAX_BODY} bytes.`);
    keys ??= await Promise.all([secret].flat().map((text) => signingKey(text)));
    if (!(await isSigned(keys, request.headers, body))) {
      return refused(401, "The signature is missing, wrong, or more than five minutes old.");
    }
    const queue = queueOf(body);
    if (queue === undefined) return refused(400, `A wake has the type ${WAKE} and names its queue.`);
    const working = drain(queue);
    if (working === null) return refused(404, "Nobody works on this queue here.");
    if (!waitUntil) return Response.json(await working);
    waitUntil(working.catch((error: unknown) => onError(error, queue)));
    return Response.json({ queue }, { status: 202 });
  };
}

/** The body; nothing where it is too long, of which no more is read than that. */
async function textOf(request: Request): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function queueOf(body: string): string | undefined {
  try {
    const { type, data } = JSON.parse(body) as { type?: unknown; data?: { queue?: unknown } };
    return type === WAKE && typeof data?.queue === "string" ? data.queue : undefined;
  } catch {
    return undefined;
  }
}

function refused(status: number, detail: string, headers: Record<string, string> = {}): Response {
  const type = { "content-type": "application/problem+json" };
  return new Response(JSON.stringify({ title: "Not a wake", status, detail }), {
    status,
    headers: { ...type, ...headers },
  });
}
