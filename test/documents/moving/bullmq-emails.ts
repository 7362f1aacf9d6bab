import { defineQueue } from "sluice-queue";

/** `template` was the name of the job. */
export type Email = { template: string; to: string };

// What BullMQ has at the job, the worker and the scheduler is in one place.
export const emails = defineQueue<Email>("emails", {
  maxAttempts: 5,
  backoff: { base: "1s", factor: 2 },
  timeout: "30s",
  rate: { most: 10, per: "1s" },
  schedules: {
    digest: {
      cron: "0 9 * * 1",
      timeZone: "Europe/Berlin",
      payload: { template: "digest", to: "team@example.com" },
    },
  },
});
