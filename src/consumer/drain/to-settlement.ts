import { SluiceError } from "../../errors.ts";
import { type Backoff, delayAfter } from "../../queue/core/backoff.ts";
import { byteLength, decodeValue, encodeError, encodeValue } from "../../queue/core/codec.ts";
import { milliseconds } from "../../queue/core/duration.ts";
import type { LeasedTask } from "../../queue/tasks/leased-task.ts";
import { settlementArguments } from "../../queue/tasks/settle.ts";
import type { Settlement } from "../../queue/core/types.ts";
import type { TaskOutcome } from "./types.ts";
import { NonRetryableError, RetryAfter } from "./failures.ts";

type Leased = Pick<LeasedTask, "receipt" | "attempt">;

/** A settlement that cannot make its request fail, and its size. */
export interface Sendable {
  readonly settlement: Settlement;
  readonly bytes: number;
}

/** What becomes of a task whose handler threw that. */
export function outcomeOf(thrown: unknown, backoff: Backoff | true): TaskOutcome {
  try {
    if (isOne(thrown, NonRetryableError, "NonRetryableError")) return { outcome: "reject", error: thrown };
    if (isOne(thrown, RetryAfter, "RetryAfter")) {
      const { delay, count, cause } = thrown;
      return { outcome: "requeue", delay, count, error: cause ?? thrown };
    }
  } catch {
    // It does not even let itself be looked at.
  }
  const error = thrown === undefined ? new Error("the handler threw undefined") : thrown;
  return { outcome: "requeue", backoff, error };
}

// By name too: a bundle may hold a copy of the class.
function isOne<E extends Error>(
  thrown: unknown,
  kind: new (...args: never[]) => E,
  name: string,
): thrown is E {
  return thrown instanceof kind || (typeof thrown === "object" && (thrown as Error | null)?.name === name);
}

/**
 * The settlement that an outcome amounts to, whatever is in it: what can be stored neither as result nor as error is
 * replaced by an error that says so. Values are copied, for the caller may go on changing them.
 */
export function settlementOf(task: Leased, outcome: TaskOutcome): Sendable {
  try {
    return outcome.outcome === "complete"
      ? completion(task, outcome.result)
      : sendable(asSettlement(task, outcome));
  } catch (fault) {
    return sendable(failed(task, new Error(`the handler's outcome is of no use: ${reasonOf(fault)}`)));
  }
}

/** Gives back what was not begun. */
export function handBack({ receipt }: Leased): Sendable {
  return sendable({ receipt, outcome: "requeue", unstarted: true });
}

export function extension({ receipt }: Leased): Sendable {
  return sendable({ receipt, outcome: "extend" });
}

function sendable(settlement: Settlement): Sendable {
  return { settlement, bytes: byteLength(settlementArguments(settlement, "settlement").text) };
}

function completion({ receipt }: Leased, result: unknown): Sendable {
  if (result === undefined) return { settlement: { receipt, outcome: "complete" }, bytes: 0 };
  try {
    const text = encodeValue(result, "result");
    return {
      settlement: { receipt, outcome: "complete", result: decodeValue(text) },
      bytes: byteLength(text),
    };
  } catch (fault) {
    // The work is done: another attempt would do it again.
    const error = new Error(`the work is done, but its result cannot be stored: ${reasonOf(fault)}`);
    return sendable({ receipt, outcome: "reject", error });
  }
}

function asSettlement(
  { receipt, attempt }: Leased,
  outcome: Exclude<TaskOutcome, { outcome: "complete" }>,
): Settlement {
  switch (outcome.outcome) {
    case "reject":
      return { receipt, outcome: "reject", error: errorOf(outcome.error) };
    case "requeue": {
      const { delay = 0, backoff, count = true } = outcome;
      const error = errorOf(outcome.error);
      try {
        // Reckoned once, so that a copy of the settlement says the same.
        const ms = backoff === undefined ? milliseconds(delay, "delay") : delayAfter(attempt, backoff);
        return { receipt, outcome: "requeue", delay: ms, count, error };
      } catch (fault) {
        return failed({ receipt, attempt }, error ?? new Error(reasonOf(fault)));
      }
    }
    default:
      throw new SluiceError("invalid_argument", "its outcome must be complete, requeue or reject", "outcome");
  }
}

function failed({ receipt, attempt }: Leased, error: unknown): Settlement {
  return { receipt, outcome: "requeue", delay: delayAfter(attempt), error };
}

function errorOf(error: unknown): unknown {
  try {
    const copy = decodeValue(encodeError(error, "error"));
    if (!(error instanceof Error)) return copy;
    const { name, message, cause } = copy as Record<"name" | "message", string> & { cause?: string };
    const kept = new Error(message, cause === undefined ? {} : { cause: new Error(cause) });
    return Object.assign(kept, { name });
  } catch (fault) {
    return new Error(`what the handler threw cannot be stored: ${reasonOf(fault)}`);
  }
}

// Other errors than ours may quote a payload, or throw when they are looked at.
function reasonOf(fault: unknown): string {
  return fault instanceof SluiceError ? fault.message : "it cannot be read";
}
