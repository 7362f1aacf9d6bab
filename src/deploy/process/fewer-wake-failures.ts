import type { Log } from "../../log/logger.ts";

/** How long the same failure of a queue's wakes is not logged again, ms. */
const QUIET = 60_000;

/**
 * Makes logs that leave out the failure of a wake if the queue has had the same in the last minute, apart from
 * numbers. So an outage writes few lines. All logs that one result makes know what the others have written.
 */
export function fewerWakeFailures(): (log: Log) => Log {
  /** By queue and failure, on the clock of `performance.now()`. */
  const loggedAt = new Map<string, number>();
  return (log) => (line) => {
    const { wake, failed } = line[1] as { readonly wake?: string; readonly failed?: string };
    if (wake !== undefined && failed !== undefined) {
      const now = performance.now();
      for (const [failure, at] of loggedAt) if (now - at >= QUIET) loggedAt.delete(failure);
      const failure = `${wake} ${failed.replaceAll(/\d+/g, "0")}`;
      if (loggedAt.has(failure)) return;
      loggedAt.set(failure, now);
    }
    log(line);
  };
}
