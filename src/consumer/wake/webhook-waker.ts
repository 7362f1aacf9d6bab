import { invalidArgument } from "../../errors.ts";
import { milliseconds, type Duration } from "../../queue/core/duration.ts";
import { newToken } from "../../queue/core/ids.ts";
import { onlyOptions } from "../../queue/core/validation.ts";
import type { Waker } from "../../queue/tasks/waker.ts";
import { sleep } from "../../sleep.ts";
import { signedHeaders, signingKey } from "./signature.ts";

/** The `type` of the event that a wake is, in the words of Standard Webhooks. */
export const WAKE = "sluice.wake";

const TRIES = 3;
const PAUSE = 200;

/** Another try would end the same. */
class Refused extends Error {}

export interface WebhookWakerOptions extends Omit<Waker, "wake"> {
  /** Where the consumer listens, such as {@link wakeReceiver}. */
  readonly url: string;
  /** What both sides know: `whsec_` and 24 to 64 bytes in base64, e.g. of `openssl rand -base64 32`. */
  readonly secret: string;
  /**
   * How long to wait for the answer. A consumer may answer when its work is done: one that has not answered counts as
   * woken. @default "2s"
   */
  readonly timeout?: Duration | undefined;
  /** Another way to send the request, such as a service binding's `fetch`. @default the global one */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
}

/**
 * Wakes a consumer by a POST to its URL, signed as Standard Webhooks has it; up to three times within the timeout where it
 * cannot be reached, or answers 408, 429 or 5xx.
 * @throws {SluiceError} `invalid_argument`
 */
export function webhookWaker(options: WebhookWakerOptions): Waker {
  const { url, secret, timeout = "2s", fetch: send = (request) => fetch(request), ...waker } = options;
  onlyOptions(options, ["url", "secret", "timeout", "fetch", "queues", "window", "waitUntil", "onError"]);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw invalidArgument("url", "must be one that begins with https:// or http://");
  }
  if (new URL(url).username + new URL(url).password !== "") {
    // Not only is there no such request: the engine's error quotes it.
    throw invalidArgument("url", "must be one without a user and a password");
  }
  const within = milliseconds(timeout, "timeout", { min: 1, max: 60_000 });
  let key: CryptoKey | undefined;

  const attempt = async (queue: string, signal: AbortSignal) => {
    const body = JSON.stringify({ type: WAKE, timestamp: new Date().toISOString(), data: { queue } });
    key ??= await signingKey(secret);
    const headers = {
      "content-type": "application/json",
      ...(await signedHeaders(key, `wake_${newToken()}`, body)),
    };
    const answer = await send(new Request(url, { method: "POST", headers, body, signal }));
    await answer.body?.cancel();
    const { ok, status } = answer;
    const again = status >= 500 || status === 408 || status === 429;
    if (!ok) throw new (again ? Error : Refused)(`the consumer answered HTTP ${status}`);
  };

  const wake = async (queue: string) => {
    const signal = AbortSignal.timeout(within);
    let failure: unknown;
    for (let tries = 1; tries <= TRIES && !signal.aborted; tries++) {
      try {
        return await attempt(queue, signal);
      } catch (error) {
        // It took the request and works: it answers when it is done.
        if (signal.aborted && failure === undefined) return;
        if (!signal.aborted) failure = error;
        if (error instanceof Refused) break;
        await sleep(PAUSE * tries, signal);
      }
    }
    throw failure;
  };
  return { ...waker, wake };
}
