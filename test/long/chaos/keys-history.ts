import type { TaskHistory } from "./history.ts";
import { QUEUES } from "./work.ts";

/** The tasks of keys: of each at most one is not done, or has not begun. */
export class Keys {
  /** By key, the task that was enqueued last. */
  readonly #tasks = new Map<string, TaskHistory>();

  /** A new task. Returns what is wrong with that. */
  enqueued(task: TaskHistory): string[] {
    const key = keyOf(task);
    if (key === undefined) return [];
    const before = this.#tasks.get(key);
    this.#tasks.set(key, task);
    if (!before || before.ends.length > 0) return [];
    // A debounced task that has begun does not hold its key any more.
    if (key.startsWith("d") && before.leases.length > 0) return [];
    return [`it was enqueued while ${before.id} had the key ${key}`];
  }

  /** A task gets another payload, which says what its mark is from then on. Returns what is wrong with that. */
  replaced(task: TaskHistory): string[] {
    const faults = task.leases.length > 0 ? ["its payload was replaced after it had begun"] : [];
    return keyOf(task)?.startsWith("s") ? [...faults, "its payload was replaced, not dropped"] : faults;
  }
}

const keyOf = ({ queue, mark = "" }: TaskHistory) =>
  queue === QUEUES.keyed ? /@(\w+)$/.exec(mark)?.[1] : undefined;
