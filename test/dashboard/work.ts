import type { LeasedTask, Queue } from "../../src/index.ts";

/** Leases the next task of a queue, which must have one. */
export async function lease(queue: Queue, worker?: { readonly name: string }): Promise<LeasedTask> {
  const [task] = await queue.dequeue(worker === undefined ? {} : { worker });
  if (!task) throw new Error(`${queue.name} has no pending task`);
  return task;
}

export const errorNamed = (name: string, message: string) => Object.assign(new Error(message), { name });

/** Makes so many dead letters, of tasks that fail with this error on their only attempt. Returns their ids, sorted. */
export async function makeDeadLetters(queue: Queue, count: number, error: Error): Promise<string[]> {
  const payloads = Array.from({ length: count }, (_, number) => ({ payload: { number } }));
  const ids: string[] = [];
  for (let first = 0; first < count; first += 1_000) {
    const slice = payloads.slice(first, first + 1_000);
    await queue.enqueueMany(slice.map((task) => ({ ...task, maxAttempts: 1 })));
    const batch = await queue.dequeue({ max: 1_000 });
    await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "requeue", error })));
    ids.push(...batch.map(({ id }) => id));
  }
  return ids.toSorted();
}
