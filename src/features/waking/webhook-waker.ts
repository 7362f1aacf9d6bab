import { messageOf } from "../../errors.ts";
import { milliseconds, type Duration } from "../../kernel/options/duration.ts";
import { newToken } from "../../kernel/names/ids.ts";
import { onlyOptions } from "../../kernel/options/validation.ts";
import type { Waker } from "./waker.ts";
import { retry, TimedOut, Transient } from "../../retry.ts";
import { checkedUrl, HTTP } from "../../url.ts";
import { signedHeaders, signingKey } from "../../signature.ts";

/** The `type` of a wake, which is an event of Standard Webhooks. */
export const WAKE = "sluice.wake";

const RETRY = { tries: 3, firstWait: 200, longestWait: 400 };

export interface WebhookWakerOptions extends Omit<Waker, "wake" | "wakeAt" | "sweepAt"> {
  /** Where the consumer receives wakes, for example with {@link wakeReceiver}. */
  readonly url: string;
  /**
   * The secret that the waker and the receiver share: `whsec_` followed by 24 to 64 bytes in base64. To make
   * one: `echo whsec_$(openssl rand -base64 32)`.
   */
  readonly secret: string;
  /**
   * How long to wait for the response, 1 ms to 1 min. A consumer may respond when its work is done, so a
   * consumer that has not responded counts as woken. @default "2s"
   */
  readonly timeout?: Duration | undefined;
  /** Sends the request, such as a service binding's `fetch`. @default the global `fetch` */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
}

/**
 * Wakes a consumer by a POST to its URL, signed as Standard Webhooks specifies. If the consumer cannot be
 * reached, or responds 408, 429 or 5xx, the waker sends up to three wakes within the timeout.
 * @param options.url begins with `https://` or `http://`, without user and password
 * @param options.secret `whsec_` followed by 24 to 64 bytes in base64
 * @param options.timeout for all tries. Default: "2s"
 * @returns a waker for the `wake` option of a `Queue` or `Producer`
 * @throws {SluiceError} `invalid_argument`
 * @example
 * const wake = webhookWaker({ url: "https://consumer.example.com/wake", secret });
 * const emails = new Queue<Email>("emails", { transport, wake });
 */
export function webhookWaker(options: WebhookWakerOptions): Waker {
  const { url, secret, timeout = "2s", fetch: send = (request) => fetch(request), ...waker } = options;
  onlyOptions(options, ["url", "secret", "timeout", "fetch", "queues", "window", "waitUntil", "onError"]);
  // The runtime refuses a request with credentials in its URL, and its error would quote them.
  checkedUrl(url, "url", HTTP, "user and password");
  const deadline = milliseconds(timeout, "timeout", { min: 1, max: 60_000 });
  const policy = { ...RETRY, deadline, tryTimeout: deadline };
  let key: CryptoKey | undefined;

  const attempt = async (queue: string, signal: AbortSignal) => {
    const body = JSON.stringify({ type: WAKE, timestamp: new Date().toISOString(), data: { queue } });
    key ??= await signingKey(secret);
    const headers = {
      "content-type": "application/json",
      ...(await signedHeaders(key, `wake_${newToken()}`, body)),
    };
    const request = new Request(url, { method: "POST", headers, body, signal });
    let response: Response;
    try {
      response = await send(request);
      await response.body?.cancel();
    } catch (error) {
      throw transient(withCode(error));
    }
    const { ok, status } = response;
    if (ok) return;
    const why = REFUSALS[status] ?? "";
    const refusal = new Error(`the consumer answered HTTP ${status}${why}`);
    throw status >= 500 || status === 408 || status === 429 ? transient(refusal) : refusal;
  };

  const wake = (queue: string) =>
    retry({
      policy,
      attempt: ({ signal }) => attempt(queue, signal),
      giveUp: (last) => (last instanceof TimedOut ? last : last.cause),
      signal: undefined,
    }).catch((error: unknown) => {
      // A consumer may respond only when its work is done, so no response in time counts as woken.
      if (!(error instanceof TimedOut)) throw error;
    });
  return { ...waker, wake };
}

/** What a status says of the deployment that was called. */
const REFUSALS: Readonly<Record<number, string>> = {
  401: ": the secrets or the clocks differ, or something in front of it wants a login",
  404: ": nothing receives wakes at the URL, or the queue has no consumer there",
};

/** An error of `fetch` with its code, such as ECONNREFUSED, which Node has in the cause. */
function withCode(error: unknown): unknown {
  const { code } = Object(Object(error).cause) as { readonly code?: unknown };
  return typeof code === "string" ? new Error(`${messageOf(error)} (${code})`, { cause: error }) : error;
}

const transient = (cause: unknown) => new Transient(messageOf(cause), { cause });
