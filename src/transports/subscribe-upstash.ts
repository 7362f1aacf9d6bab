import { SluiceError } from "../errors.ts";
import { networkError, Transient } from "../retry.ts";
import { redisError, redact } from "./redis-error.ts";
import type { RetryOptions } from "./retry.ts";
import { type OpenSubscription, subscriber } from "./subscriber.ts";

/** The `subscribe` of a transport over HTTP. */
export const subscribeOverHttp = (url: string, token: string, retry: RetryOptions | undefined) =>
  subscriber(openOverHttp(url, token), retry);

/**
 * Opens subscriptions as event streams of Upstash's REST protocol. It does not use the SDK's subscriber,
 * which drops all but the first line of a message, does not encode the channel's name, and does not report
 * the end of a stream.
 */
function openOverHttp(url: string, token: string): OpenSubscription {
  const base = url.replace(/\/$/, "");

  return async (channel, signal) => {
    const connection = new AbortController();
    const close = () => connection.abort();
    signal.addEventListener("abort", close);
    try {
      const response = await fetch(`${base}/subscribe/${encodeURIComponent(channel)}`, {
        headers: { authorization: `Bearer ${token}`, accept: "text/event-stream" },
        signal: connection.signal,
      });
      if (!response.ok || response.body === null) throw await refusal(response, token);
      const events = eventsOf(response.body.getReader());
      // The first event confirms the subscription.
      const { value } = await events.next();
      if (value?.startsWith(`subscribe,${channel},`)) return { messages: messagesOf(events, channel), close };
    } catch (error) {
      close();
      if (error instanceof SluiceError || error instanceof Transient) throw error;
      throw networkError(error);
    } finally {
      signal.removeEventListener("abort", close);
    }
    close();
    throw new Transient("an event stream without a confirmation");
  };
}

/** The error for a response that is not an event stream. */
async function refusal(response: Response, token: string): Promise<Error> {
  const { status } = response;
  const text = redact(errorIn(await response.text()) ?? "no text", ["AUTH", token]);
  const refused = redisError(text);
  const isPermanent = status >= 400 && status < 500 && status !== 429;
  return refused.code !== "redis_error" || isPermanent
    ? refused
    : new Transient(`an HTTP error (${status}: ${text})`);
}

function errorIn(body: string): string | undefined {
  try {
    const { error } = JSON.parse(body) as { error?: unknown };
    return typeof error === "string" ? error : undefined;
  } catch {
    return undefined;
  }
}

async function* messagesOf(events: AsyncIterable<string>, channel: string): AsyncGenerator<string> {
  const prefix = `message,${channel},`;
  for await (const event of events) if (event.startsWith(prefix)) yield event.slice(prefix.length);
}

/** The data of the events of a stream. */
async function* eventsOf(
  reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (text + decoder.decode(value, { stream: true })).split(/\r\n\r\n|\n\n|\r\r/);
    text = events.pop() ?? "";
    for (const event of events) {
      const data = Array.from(event.matchAll(/^data: ?(.*)$/gm), ([, line]) => line);
      if (data.length > 0) yield data.join("\n");
    }
  }
}
