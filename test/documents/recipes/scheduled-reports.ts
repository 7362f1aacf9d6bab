import { defineQueue } from "sluice-queue";
import { sluice } from "sluice-queue/cloudflare";

type Env = { REPORTS_URL: string };

export const reports = defineQueue<{ kind: string }>("reports", {
  timeout: "20s",
  schedules: {
    daily: { cron: "0 7 * * 1-5", timeZone: "Europe/Berlin", payload: { kind: "daily" } },
    hourly: { cron: "0 * * * *", payload: { kind: "hourly" }, missed: "all" },
  },
});

// The report is of the time for which it was scheduled. A retry an hour later makes the same report.
const writeReport = reports.consumer(async ({ id, payload, headers, enqueuedAt, signal }, env: Env) => {
  const until = new Date(Number(headers?.["scheduled-at"] ?? enqueuedAt)).toISOString();
  const response = await fetch(env.REPORTS_URL, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": id },
    body: JSON.stringify({ kind: payload.kind, until }),
    signal,
  });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
});

export default sluice<Env>({ consumers: [writeReport] });
