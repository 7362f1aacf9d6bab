import { beforeEach } from "vitest";
import type { DeadLetter, EnqueueOptions, NewTask, Queue, QueueOptions } from "../../src/index.ts";
import type { Rig } from "./rig.ts";

export const MINUTE = 60_000;

/** A dead letter of the queue of the rig, delivered once. */
export const letter = (id: string, reason: DeadLetter["reason"], more: Partial<DeadLetter> = {}) => ({
  queue: "emails",
  id,
  reason,
  attempts: 1,
  ...more,
});

/** A dead letter whose last lease expired. */
export const expired = (id: string) => letter(id, "lease_expired");

/** The functions that tests of new dead letters share. */
export function deadLetterTools(rig: Rig) {
  /** The dead letters that the hook got in this test. */
  const letters: DeadLetter[] = [];
  beforeEach(() => void letters.splice(0));
  const onDeadLetter = (one: DeadLetter) => void letters.push(one);
  return {
    letters,
    onDeadLetter,
    /** A queue with the hook. */
    watched: (options: Partial<QueueOptions> = {}) => rig.queue({ onDeadLetter, ...options }),
    /** Leases new tasks for a minute, on their only attempt unless the options say otherwise. */
    async leased(ids: readonly string[], options: EnqueueOptions = {}) {
      await rig.queue().enqueueMany(ids.map((id) => ({ payload: id, id, maxAttempts: 1, ...options })));
      return rig.queue().dequeue({ max: ids.length, lease: MINUTE });
    },
    /** The states of tasks, by id. */
    states: async (...ids: string[]) =>
      Object.fromEntries(
        await Promise.all(ids.map(async (id) => [id, (await rig.queue().get(id))?.state] as const)),
      ),
  };
}

/**
 * Enqueues tasks, dequeues all, and lets them fail on their only attempt, in the order of delivery, each with its
 * payload as error.
 */
export async function bury(queue: Queue, tasks: readonly NewTask<unknown>[]): Promise<void> {
  for (let first = 0; first < tasks.length; first += 1_000) {
    const slice = tasks.slice(first, first + 1_000);
    await queue.enqueueMany(slice.map((task) => ({ maxAttempts: 1, ...task })));
  }
  for (let batch = await queue.dequeue({ max: 1_000 }); batch.length > 0;) {
    await queue.settle(
      batch.map(({ receipt, payload }) => ({ receipt, outcome: "requeue" as const, error: payload })),
    );
    batch = await queue.dequeue({ max: 1_000 });
  }
}
