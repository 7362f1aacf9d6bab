/**
 * `process.nextTick` of Node, Bun and Deno marks the end of a turn. Written so that bundlers for the edge
 * accept it.
 */
const { process: host } = globalThis as { process?: { nextTick(resolve: () => void): void } };

/** How many microtasks a group stays open if the platform cannot tell the end of a turn. */
export const GATHER_STEPS = 4;

/**
 * Resolves when all promises of this turn of the event loop that can run have run; never waits for a timer.
 * @param steps how many microtasks to wait if the platform cannot tell
 */
export async function endOfTurn(steps: number): Promise<void> {
  for (let i = 0; i < steps; i++) await Promise.resolve();
  await new Promise<void>((resolve) => {
    try {
      // A tick requested by a microtask runs when no microtask is left.
      host!.nextTick(resolve);
    } catch {
      // Some Workers have none, and that of Edge functions of Next.js throws.
      resolve();
    }
  });
}
