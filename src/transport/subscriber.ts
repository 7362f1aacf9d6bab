import { SluiceError } from "../errors.ts";
import type { Try } from "../retry.ts";
import type { Transport } from "../queue/redis/transport.ts";
import { retryPolicy, retryRedis, type RetryOptions } from "./retry.ts";

/** A confirmed subscription. */
export interface Subscription {
  /** Ends, or throws, when the connection does. */
  readonly messages: AsyncIterable<string>;
  readonly close: () => void;
}

/**
 * Opens a subscription once: all that differs between transports.
 * @param signal when it aborts nobody waits any longer: what is still opened then has to be closed
 * @throws {Transient} when another try may help; {@link SluiceError} when it was refused
 */
export type Opening = (channel: string, signal: AbortSignal) => Promise<Subscription>;

/** `subscribe` over an {@link Opening}: resends until it is open, and what its end means. */
export function subscriber(
  open: Opening,
  retry: RetryOptions | undefined,
): NonNullable<Transport["subscribe"]> {
  const policy = retryPolicy(retry);

  return async (channel, { signal } = {}) => {
    const attempt = (own: Try) => open(channel, own.signal);
    const { messages, close } = await retryRedis({ policy, signal, attempt });
    signal?.addEventListener("abort", close);
    if (signal?.aborted) close();
    return heard({ messages, close }, signal);
  };
}

async function* heard(
  { messages, close }: Subscription,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void> {
  try {
    yield* messages;
  } catch {
    // A connection that broke is one that ended.
  } finally {
    close();
    signal?.removeEventListener("abort", close);
  }
  if (signal?.aborted) return;
  throw new SluiceError(
    "redis_unreachable",
    "the subscription has ended; what is published until another is open is lost",
  );
}
