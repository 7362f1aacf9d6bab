import { Cron } from "croner";

export interface Cronjobs {
  stop(): void;
}

export interface CronListeners {
  readonly fired: (line: string) => void;
  readonly failed: (line: string) => void;
}

/**
 * Calls the Worker's scheduled handler at the times of its cron expressions, which wrangler does not do.
 * @param crons the expressions of wrangler.toml, in UTC as on Cloudflare
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
  const jobs = crons.map((cron) => new Cron(cron, { timezone: "UTC", protect: true }, () => fire(cron)));
  return {
    stop() {
      for (const job of jobs) job.stop();
    },
  };
}
