import { abortedBySignal } from "../../errors.ts";

/** The call of one caller. */
export interface SingleCall<Item, Answer> {
  readonly item: Item;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (answer: Answer | Promise<Answer>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends a call alone. If the caller aborts it, this throws at once, also while it waits for more than Redis.
 * @throws {SluiceError} `aborted`, and what the call throws
 */
export async function unlessAborted<Answer>(
  signal: AbortSignal | undefined,
  send: () => Promise<Answer>,
): Promise<Answer> {
  if (!signal) return send();
  if (signal.aborted) throw abortedBySignal(false);
  return new Promise((resolve, reject) => {
    const leave = () => reject(abortedBySignal(true));
    signal.addEventListener("abort", leave);
    void send()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", leave));
  });
}
