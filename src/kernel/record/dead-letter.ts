import type { ErrorSummary } from "../errors/error-summary.ts";
import { callHook } from "../options/hook.ts";
import type { RejectReason } from "../options/types.ts";

/** A task that has become a dead letter. */
export interface DeadLetter {
  readonly queue: string;
  readonly id: string;
  /**
   * `rejected` by its holder, `attempts_exhausted` if its last attempt failed, `lease_expired` if the lease of
   * its last attempt expired or its worker fell silent, or `taken_back` if an operator took it back.
   */
  readonly reason: Exclude<RejectReason, "cancelled" | "dependency_failed">;
  /** How many times the task was delivered. */
  readonly attempts: number;
  /** The error of the settlement. Absent if it had none, and for the reasons `lease_expired` and `taken_back`. */
  readonly error?: ErrorSummary | undefined;
}

/** Called with each new dead letter. */
export type OnDeadLetter = (letter: DeadLetter) => unknown;

/** A task whose last lease expired or was taken back, as the scripts report it. Without a reason it is `lease_expired`. */
export type ExpiredTask = Pick<DeadLetter, "id" | "attempts"> & Partial<Pick<DeadLetter, "reason">>;

/** Calls the hook with a dead letter, as {@link callHook} does. */
export function reportDeadLetter(onDeadLetter: OnDeadLetter, letter: DeadLetter): Promise<void> {
  return callHook("onDeadLetter", onDeadLetter, letter);
}

/** Reports the tasks whose last lease had expired, or was taken back. */
export function reportExpired(
  onDeadLetter: OnDeadLetter | undefined,
  queue: string,
  tasks: readonly ExpiredTask[],
): void {
  if (!onDeadLetter) return;
  for (const task of tasks) {
    void reportDeadLetter(onDeadLetter, { queue, reason: "lease_expired", ...task });
  }
}
