import { LONGEST_TIMER, sleep } from "../../sleep.ts";
import { type Calendar, calendarOf, readRecurrence, rhythmOf } from "../../features/schedules/index.ts";

export interface Cronjobs {
  stop(): void;
}

export interface CronListeners {
  readonly fired: (line: string) => void;
  readonly failed: (line: string) => void;
}

/**
 * Calls the Worker's scheduled handler at the times of its cron expressions, which wrangler does not do. While a
 * handler of an expression runs, it is not called again.
 * @param crons the expressions of wrangler.toml, in UTC as on Cloudflare
 * @throws {SluiceError} `invalid_argument`
 */
export function startCron(
  workerUrl: string,
  crons: readonly string[],
  { fired, failed }: CronListeners,
): Cronjobs {
  const fire = async (cron: string) => {
    const handler = new URL("/cdn-cgi/handler/scheduled", workerUrl);
    handler.searchParams.set("cron", cron);
    const begin = performance.now();
    try {
      const response = await fetch(handler);
      const outcome = await response.text();
      if (!response.ok) return failed(`cron ${cron}: the Worker answered ${response.status}: ${outcome}`);
      return fired(
        `cron ${cron}: the Worker swept its queues, in ${Math.round(performance.now() - begin)} ms`,
      );
    } catch (error) {
      return failed(`cron ${cron}: the Worker did not answer: ${String(error)}`);
    }
  };
  const calendars = crons.map((cron) => {
    const { rhythm } = rhythmOf(readRecurrence({ cron }), undefined, Date.now());
    return [cron, calendarOf(rhythm)] as const;
  });
  const stopping = new AbortController();
  for (const [cron, calendar] of calendars) void atEach(calendar, stopping.signal, () => fire(cron));
  return { stop: () => stopping.abort() };
}

/** Calls `run` at each occurrence at which it is not running. */
async function atEach(calendar: Calendar, signal: AbortSignal, run: () => Promise<void>): Promise<void> {
  let next: number | undefined;
  while ((next = calendar.firstFrom(Date.now() + 1)) !== undefined) {
    // A timer may end a little too early.
    for (let left = next - Date.now(); left > 0; left = next - Date.now()) {
      await sleep(Math.min(left, LONGEST_TIMER), signal);
      if (signal.aborted) return;
    }
    await run();
  }
}
