import { type ErrorSummary, summarizeError } from "../errors/error-summary.ts";
import { callHook } from "../options/hook.ts";
import { readReceipt } from "../names/receipt.ts";
import type { RejectReason, Settled, Settlement } from "../options/types.ts";

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
function reportDeadLetter(onDeadLetter: OnDeadLetter, letter: DeadLetter): Promise<void> {
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

/**
 * Reports the dead letters that a settle has made.
 * @param settled a result for each settlement, in their order
 */
export function reportSettled(
  onDeadLetter: OnDeadLetter | undefined,
  queue: string,
  settlements: readonly Settlement[],
  settled: readonly Settled[],
): void {
  if (!onDeadLetter) return;
  for (const [i, result] of settled.entries()) {
    const settlement = settlements[i];
    if (!settlement || !result.ok || result.state !== "rejected") continue;
    const { reason } = result;
    if (reason === undefined || reason === "cancelled") continue;
    const { id, attempt: attempts } = readReceipt(settlement.receipt, "receipt");
    const error = "error" in settlement ? summarizeError(settlement.error) : undefined;
    const letter = { queue, id, reason, attempts };
    void reportDeadLetter(onDeadLetter, error === undefined ? letter : { ...letter, error });
  }
}
