import type { SluiceError } from "../errors.ts";
import { isReference, referredBytes } from "../queue/core/envelope.ts";
import type { LeasedPayload } from "../queue/core/leased-payload.ts";
import type { Settlement } from "../queue/core/types.ts";
import { isUnreadable } from "../queue/values/encryption.ts";
import type { FetchedTasks } from "../queue/values/offload.ts";
import { each } from "./store-requests.ts";

/** When a task is delivered again whose object could not be read for now, ms. */
const RETRY_AFTER = 30_000;

/** A task of a dequeue, or why its record cannot be read. */
type ReadTask<Task> = { readonly task: Task } | { readonly error: unknown };

/**
 * The tasks of a dequeue with the payloads of their objects.
 *
 * Tasks over `maxBytes` are handed back unstarted, and all tasks behind them too, so that these keep their order.
 * An object that is missing or damaged fails its own task only. If the store does not answer, the tasks whose
 * objects were not read are handed back without being charged.
 * @param read reads the payload of a task whose payload is a reference
 */
export async function fetchTasks<Task extends LeasedPayload>(
  readers: readonly (() => Task)[],
  maxBytes: number,
  read: (task: Task) => Promise<unknown>,
): Promise<FetchedTasks<Task>> {
  const all = readers.map((reader) => attempt(reader));
  if (!all.some(hasObject)) return { readers, handBacks: [], readyAt: undefined, error: undefined };
  const count = howManyFit(all, maxBytes);
  const left = all.slice(count).filter((one) => "task" in one);
  const handBacks: Settlement[] = left.map(({ task }) => ({ ...requeue(task), unstarted: true }));
  const readyAt = left.map(({ task }) => leasedAt(task));
  let error: SluiceError | undefined;
  const fetched = await each(all.slice(0, count), async (one) => {
    if (!hasObject(one)) return one;
    const { task } = one;
    // The store does not answer. The other tasks do not wait for that too.
    if (!error) {
      try {
        return { task: { ...task, payload: await read(task) } };
      } catch (thrown) {
        if (isPermanent(thrown)) return { task: { ...task, failure: thrown } };
        error = thrown as SluiceError;
      }
    }
    handBacks.push({ ...requeue(task), error, delay: RETRY_AFTER, count: false });
    readyAt.push(leasedAt(task) + RETRY_AFTER);
    return undefined;
  });
  return {
    readers: fetched.filter((one) => one !== undefined).map((one) => () => taskOf(one)),
    handBacks,
    readyAt: readyAt.length > 0 ? Math.min(...readyAt) : undefined,
    error,
  };
}

function attempt<Task>(reader: () => Task): ReadTask<Task> {
  try {
    return { task: reader() };
  } catch (error) {
    return { error };
  }
}

function taskOf<Task>(read: ReadTask<Task>): Task {
  if ("task" in read) return read.task;
  throw read.error;
}

function hasObject<Task extends LeasedPayload>(one: ReadTask<Task>): one is { readonly task: Task } {
  return "task" in one && isReference(one.task.payload);
}

/** How many of the tasks, from the first on, fit into `maxBytes`; at least one. */
function howManyFit(all: readonly ReadTask<LeasedPayload>[], maxBytes: number): number {
  let total = 0;
  for (const [i, one] of all.entries()) {
    total += sizeOf(one);
    if (i > 0 && total > maxBytes) return i;
  }
  return all.length;
}

function sizeOf(one: ReadTask<LeasedPayload>): number {
  if (!("task" in one)) return 0;
  const { payload, bytes = 0 } = one.task;
  return isReference(payload) ? referredBytes(payload) : bytes;
}

/** When the task was leased, on the clock of its deadline. */
function leasedAt({ deadlineAt, leasedFor }: LeasedPayload): number {
  return deadlineAt - leasedFor;
}

function requeue({ receipt }: LeasedPayload) {
  return { receipt, outcome: "requeue" as const };
}

function isPermanent(error: unknown): error is SluiceError {
  return isUnreadable(error);
}
