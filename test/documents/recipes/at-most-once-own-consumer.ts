import type { Queue } from "sluice-queue";

type Transfer = { to: string; cents: number };

/** Completes each task first. Of all that hold a task, only one gets ok. */
export async function transferNext(queue: Queue<Transfer>, transfer: (payload: Transfer) => Promise<void>) {
  const [task] = await queue.dequeue();
  if (!task) return;
  const { ok } = await task.complete();
  if (ok) await transfer(task.payload);
}
