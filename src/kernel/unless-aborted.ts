import { abortedBySignal } from "../errors.ts";

/**
 * Runs what may wait for more than Redis. If the caller aborts its call, this throws at once.
 * @param wasSent whether the request of the call was sent before
 * @throws {SluiceError} `aborted`, and what it throws
 */
export async function unlessAborted<Answer>(
  signal: AbortSignal | undefined,
  run: () => Promise<Answer>,
  wasSent = false,
): Promise<Answer> {
  if (!signal) return run();
  if (signal.aborted) throw abortedBySignal(wasSent);
  return new Promise((resolve, reject) => {
    const leave = () => reject(abortedBySignal(true));
    signal.addEventListener("abort", leave);
    void run()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", leave));
  });
}

/**
 * Waits for what a call has begun after its request.
 * @throws {SluiceError} `aborted` at once if the caller aborts its call
 */
export const waitFor = (after: readonly Promise<void>[], signal: AbortSignal | undefined): Promise<unknown> =>
  unlessAborted(signal, () => Promise.all(after), true);
