import { messageOf } from "../../../errors.ts";
import { milliseconds, type Duration } from "../../../kernel/options/duration.ts";
import { networkError, retry, Transient } from "../../../retry.ts";
import { checkedUrl, HTTP } from "../../../url.ts";
import { optionalFunction } from "../../../kernel/options/validation.ts";
import type { Delivery } from "../types.ts";

/** How a receiver is reached. */
export interface PostOptions {
  /** Where alerts are sent to. It must be set; it may have the type of a variable of the environment. */
  readonly url: string | undefined;
  /** How long one try may take, "100ms" to "10s". @default "5s" */
  readonly timeout?: Duration | undefined;
  /** Sends the request, such as a service binding's `fetch`. @default the global `fetch` */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
}

/** The names of {@link PostOptions}. */
export const POST_OPTIONS = ["url", "timeout", "fetch"] as const satisfies readonly (keyof PostOptions)[];

/** Makes the content of a request anew for each try. */
export type Content = () => Promise<{ readonly headers?: Record<string, string>; readonly body: string }>;

/** Sends one request, up to three times. @param within how long all tries may take, ms */
export type Post = (content: Content, within: number, signal: AbortSignal | undefined) => Promise<Delivery>;

const RETRY = { tries: 3, firstWait: 300, longestWait: 1_000 };

/** The longest `Retry-After` that is waited for, ms. */
const LONGEST_PAUSE = 5_000;

/**
 * Checks where a receiver is, and returns what sends to it. Redirects are not followed, because the receiver of
 * one would get what is signed for another.
 * @param at the name of the receiver, for errors
 * @throws {SluiceError} `invalid_argument`
 */
export function poster({ url, timeout = "5s", fetch: given }: PostOptions, at: string): Post {
  checkedUrl(url, `${at}.url`, HTTP, "user and password");
  const tryTimeout = milliseconds(timeout, `${at}.timeout`, { min: 100, max: 10_000 });
  const send = optionalFunction(given, `${at}.fetch`) ?? ((request: Request) => fetch(request));

  const attempt = async (content: Content, signal: AbortSignal): Promise<Delivery> => {
    const { headers, body } = await content();
    const request = new Request(url as string, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
      signal,
      redirect: "manual",
    });
    let response: Response;
    try {
      response = await send(request);
      await response.body?.cancel();
    } catch (error) {
      throw networkError(error);
    }
    const { ok, status } = response;
    if (ok) return "delivered";
    if (status === 410) return "gone";
    const failed = `HTTP ${status}${status === 0 || (status >= 300 && status < 400) ? ": redirects are not followed" : ""}`;
    if (status < 500 && status !== 408 && status !== 429) throw new Error(failed);
    throw new Transient(failed, { after: retryAfter(response) });
  };

  return (content, within, signal) =>
    retry({
      policy: { ...RETRY, deadline: within, tryTimeout },
      attempt: (one) => attempt(content, one.signal),
      giveUp: (last, effort) => new Error(`${last.message}, after ${effort}`),
      signal,
    }).catch((error: unknown) => new Error(messageOf(error)));
}

/** How long the receiver asks to wait, ms; 0 if it does not say so in seconds. */
function retryAfter(response: Response): number {
  const seconds = Number(response.headers.get("retry-after") ?? 0);
  return Number.isFinite(seconds) ? Math.min(Math.max(0, seconds * 1_000), LONGEST_PAUSE) : 0;
}
