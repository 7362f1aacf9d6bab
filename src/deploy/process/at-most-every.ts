/**
 * Limits how often a call is made. It is made at once, and if it is asked for again within `ms`, once more when they
 * are over. Failures are ignored.
 * @returns asks for the call; resolves when a call that is made at once has ended
 */
export function atMostEvery(ms: number, call: () => unknown): () => Promise<void> {
  let again: boolean | undefined;
  const now = async (): Promise<void> => {
    again = false;
    setTimeout(() => {
      const isAsked = again;
      again = undefined;
      if (isAsked) void now();
    }, ms);
    try {
      await call();
    } catch {
      // The caller does not depend on it.
    }
  };
  return async () => {
    if (again === undefined) await now();
    else again = true;
  };
}
