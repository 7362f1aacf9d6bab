import { createHash } from "node:crypto";
import { type ConnectionOptions, DelayedError, Worker } from "bullmq";
import { emails } from "./bullmq-emails.ts";

/** The id of a job's task. An id here is visible ASCII without spaces; a jobId is any text. */
export function taskId(jobId: string): string {
  if (/^[A-Za-z0-9][!-~]{0,127}$/.test(jobId)) return jobId;
  return `sha256-${createHash("sha256").update(jobId).digest("hex")}`;
}

/** Takes the place of the worker: each job becomes a task. */
export function forward(connection: ConnectionOptions) {
  const forwarder = new Worker<{ to: string }>(
    "emails",
    async (job, token) => {
      const id = taskId(job.id ?? "");
      // The same job is forwarded once. Another job with its id, which BullMQ accepts when it has removed
      // the first one, begins the task again.
      const options = { id, again: true, idempotencyKey: `${id}.${job.timestamp}` };
      try {
        await emails.enqueue({ template: job.name, ...job.data }, options);
      } catch (error) {
        // The job must not fail: one with `attempts: 1` and `removeOnFail: true` would be gone.
        console.error(`job ${job.id} is forwarded again in 10 s: ${String(error)}`);
        // If BullMQ's Redis does not answer either, the job counts as stalled later.
        await job.moveToDelayed(Date.now() + 10_000, token).catch(() => {});
        throw new DelayedError();
      }
    },
    // Stalled jobs, such as those of a forwarder that was killed, are forwarded again, not failed.
    { connection, concurrency: 100, maxStalledCount: Number.MAX_SAFE_INTEGER },
  );
  // Errors of BullMQ's own connection, and of jobs that it fails by itself.
  forwarder.on("error", (error) => console.error("the forwarder:", error.message));
  forwarder.on("failed", (job, error) => console.error(`job ${job?.id} failed:`, error.message));
  return forwarder;
}
