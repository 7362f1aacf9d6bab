import { Queue, UnrecoverableError, Worker } from "bullmq";

const connection = { host: "127.0.0.1", port: 6379 };
type Email = { to: string };

// Producer: a job after ten minutes, tried five times.
const emails = new Queue<Email>("emails", { connection });
await emails.add(
  "welcome",
  { to: "a@example.com" },
  { jobId: "welcome-17", delay: 600_000, attempts: 5, backoff: { type: "exponential", delay: 1_000 } },
);

// Schedule.
await emails.upsertJobScheduler(
  "digest",
  { pattern: "0 9 * * 1", tz: "Europe/Berlin" },
  { name: "digest", data: { to: "team@example.com" } },
);

// Consumer.
const worker = new Worker<Email>(
  "emails",
  async (job) => {
    const body = JSON.stringify({ template: job.name, ...job.data });
    const sent = await fetch("https://mail.example.com/send", { method: "POST", body });
    if (sent.status === 422) throw new UnrecoverableError("the address is refused");
    if (!sent.ok) throw new Error(`HTTP ${sent.status}`);
  },
  { connection, concurrency: 5, limiter: { max: 10, duration: 1_000 } },
);

// Dead letters. A job that is tried again has no finishedOn.
worker.on("failed", (job, error) => {
  if (job?.finishedOn) console.error(job.id, error.message);
});
await emails.retryJobs({ state: "failed" });
