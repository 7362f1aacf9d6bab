import type { Queue, Worker } from "sluice-queue";

/** Works on tasks one by one, until the signal aborts. Its heartbeat keeps the lease. */
export async function consume(
  queue: Pick<Queue<{ pages: number }>, "dequeue" | "heartbeat">,
  run: (payload: { pages: number }, signal: AbortSignal) => Promise<unknown>,
  signal: AbortSignal,
) {
  const worker: Worker = { name: "importer-1", incarnation: crypto.randomUUID(), silentAfter: "1m" };
  while (!signal.aborted) {
    const [task] = await queue.dequeue({ worker, wait: "20s" });
    if (!task) continue;
    const stop = new AbortController();
    const beat = setInterval(() => {
      queue.heartbeat(worker, { receipts: [task.receipt] }).then((heartbeat) => {
        if (!heartbeat.ok || heartbeat.lost?.length || heartbeat.cancelRequested.length) stop.abort();
      }, console.error);
    }, 15_000);
    try {
      await task.complete(await run(task.payload, stop.signal));
    } catch (error) {
      await task.requeue({ backoff: true, error });
    } finally {
      clearInterval(beat);
    }
  }
}
