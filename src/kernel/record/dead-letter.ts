import type { ErrorSummary } from "../errors/error-summary.ts";
import { callHook } from "../options/hook.ts";
import type { RejectReason } from "../options/types.ts";

/** A task that has become a dead letter. */
export interface DeadLetter {
  readonly queue: string;
  readonly id: string;
  /**
   * `rejected` by its holder, `attempts_exhausted` if its last attempt failed, or `lease_expired` if the
   * lease of its last attempt expired or its worker was failed.
   */
  readonly reason: Exclude<RejectReason, "cancelled">;
  /** How many times the task was delivered. */
  readonly attempts: number;
  /** The error of the settlement. Absent if it had none, and for the reason `lease_expired`. */
  readonly error?: ErrorSummary | undefined;
}

/** Called with each new dead letter. */
export type OnDeadLetter = (letter: DeadLetter) => unknown;

/** A task whose last lease expired, as the scripts report it. */
export type ExpiredTask = Pick<DeadLetter, "id" | "attempts">;

/** Calls the hook with a dead letter, as {@link callHook} does. */
export function reportDeadLetter(onDeadLetter: OnDeadLetter, letter: DeadLetter): Promise<void> {
  return callHook("onDeadLetter", onDeadLetter, letter);
}

/** Reports the tasks whose last lease had expired. */
export function reportExpired(
  onDeadLetter: OnDeadLetter | undefined,
  queue: string,
  tasks: readonly ExpiredTask[],
): void {
  if (!onDeadLetter) return;
  for (const { id, attempts } of tasks) {
    void reportDeadLetter(onDeadLetter, { queue, id, reason: "lease_expired", attempts });
  }
}
