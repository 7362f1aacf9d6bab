// The schedule of each platform's page, so that it is type checked. platforms.test.ts compares it, and runs it.

import { defineQueue } from "sluice-queue";

const emails = defineQueue<{ to: string }>("emails", {
  timeout: "10s",
  unique: "24h",
  schedules: {
    digest: { cron: "0 9 * * 1", timeZone: "Europe/Berlin", payload: { to: "team@example.com" } },
  },
});

export { emails };
