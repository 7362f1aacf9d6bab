import { type ErrorSummary, summarizeError } from "../kernel/errors/error-summary.ts";
import { callHook } from "../kernel/options/hook.ts";
import { readReceipt } from "../kernel/names/receipt.ts";
import type { Settled, Settlement } from "../kernel/options/types.ts";
import { StoppedError } from "./failures.ts";
import { isHandBack } from "./to-settlement.ts";
import type { InFlightTask } from "./in-flight-task.ts";
import type { TaskFailure } from "./types.ts";

/** A settlement, and how long its handler ran, ms. */
interface TimedSettlement {
  readonly settlement: Settlement;
  readonly ranFor?: number | undefined;
}

/** Reports the failed tasks of a drain to its caller. */
export class TaskFailures {
  readonly #queue: string;
  readonly #onFailure: (failure: TaskFailure) => unknown;

  constructor(queue: string, onFailure: (failure: TaskFailure) => unknown) {
    this.#queue = queue;
    this.#onFailure = onFailure;
  }

  /** Reports a settlement if its task failed, or if its lease was lost. */
  settled({ settlement, ranFor }: TimedSettlement, reply: Settled): void {
    if (settlement.outcome === "extend" || isHandBack(settlement)) return;
    const next = nextOf(reply);
    if (next === undefined) return;
    const dueAt = reply.ok ? reply.dueAt : undefined;
    const error = errorOf(settlement) ?? (next === "lost" ? LEASE_LOST : undefined);
    this.#report(settlement, ranFor, {
      next,
      ...(error && { error }),
      ...(dueAt !== undefined && { dueAt }),
    });
  }

  /** Reports a failed task whose settlement did not reach Redis. */
  unsettled({ settlement, ranFor }: TimedSettlement): void {
    const failed = settlement.outcome === "reject" || settlement.outcome === "requeue";
    if (!failed || isHandBack(settlement)) return;
    const error = errorOf(settlement);
    this.#report(settlement, ranFor, { next: "unsettled", ...(error && { error }) });
  }

  /** Reports a task that lost its lease before its handler ended. */
  lost({ leased, beganAt }: InFlightTask<unknown>): void {
    const ranFor = beganAt === undefined ? 0 : performance.now() - beganAt;
    this.#report(leased, ranFor, { next: "lost", error: LEASE_LOST });
  }

  #report(
    { receipt }: { readonly receipt: string },
    ranFor = 0,
    what: Pick<TaskFailure, "next" | "error" | "dueAt">,
  ): void {
    const { id, attempt } = readReceipt(receipt, "receipt");
    const failure = { queue: this.#queue, id, attempt, ranFor: Math.round(ranFor), ...what };
    void callHook("onFailure", this.#onFailure, failure);
  }
}

const LEASE_LOST = summarizeError(new StoppedError("lease_lost")) as ErrorSummary;

function errorOf(settlement: Settlement): ErrorSummary | undefined {
  return "error" in settlement ? summarizeError(settlement.error) : undefined;
}

/** What happens to the task next; undefined if it was completed or cancelled. */
function nextOf(reply: Settled): TaskFailure["next"] | undefined {
  if (!reply.ok) return "lost";
  if (reply.state === "rejected") return reply.reason === "cancelled" ? undefined : "dead_letter";
  return reply.state === "completed" ? undefined : "retry";
}
