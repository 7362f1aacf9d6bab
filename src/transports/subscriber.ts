import { endable } from "../endable.ts";
import { SluiceError } from "../errors.ts";
import type { Try } from "../retry.ts";
import type { Transport } from "../kernel/transport.ts";
import { retryPolicy, retryRedis, type RetryOptions } from "./retry.ts";

/** A confirmed subscription. */
export interface Subscription {
  /** Ends, or throws, when the connection does. */
  readonly messages: AsyncIterable<string>;
  readonly close: () => void;
}

/**
 * Tries once to open a subscription. Only this differs between transports: see {@link subscriber}.
 * @param signal when it aborts, a subscription that is still being opened must be closed
 * @throws {Transient} if another try may succeed; {@link SluiceError} if the subscription was refused
 */
export type OpenSubscription = (channel: string, signal: AbortSignal) => Promise<Subscription>;

/**
 * Makes the `subscribe` of a transport: it tries until the subscription is open, and throws when it breaks.
 * @param closing ends all of them, without an error: the transport closes. Default: it does not
 */
export function subscriber(
  open: OpenSubscription,
  retry: RetryOptions | undefined,
  closing?: AbortSignal,
): NonNullable<Transport["subscribe"]> {
  const policy = retryPolicy(retry);

  return async (channel, { signal } = {}) => {
    const attempt = (currentTry: Try) => open(channel, currentTry.signal);
    const { messages, close } = await retryRedis({ policy, signal, attempt });
    const ending = new AbortController();
    const end = () => {
      for (const one of [signal, closing]) one?.removeEventListener("abort", end);
      ending.abort();
      close();
    };
    for (const one of [signal, closing]) one?.addEventListener("abort", end);
    if (signal?.aborted || closing?.aborted) end();
    return endable(untilEnded(messages, end, ending.signal), end);
  };
}

/** @param ended aborts if the caller ends the subscription */
async function* untilEnded(
  messages: AsyncIterable<string>,
  end: () => void,
  ended: AbortSignal,
): AsyncGenerator<string, void> {
  let isEnded = false;
  try {
    yield* messages;
  } catch {
    // A broken connection ends the subscription, as a closed one does.
  } finally {
    isEnded = ended.aborted;
    end();
  }
  if (isEnded) return;
  throw new SluiceError(
    "redis_unreachable",
    "the subscription has ended; events are lost until another one is open",
  );
}
