/** What becomes of an attempt that failed. A drain loads it with the first one. */
import { SluiceError } from "../errors.ts";
import { type Backoff, delayAfter } from "../kernel/options/backoff.ts";
import { byteLength } from "../kernel/record/byte-length.ts";
import { cut, decodeValue, encodeError, encodeValue, toJson } from "../kernel/record/codec.ts";
import { milliseconds } from "../kernel/options/duration.ts";
import { MAX_ERROR_BYTES } from "../kernel/options/limits.ts";
import { lineOf, stackOf, summarizeError } from "../kernel/errors/error-summary.ts";
import { readReceipt } from "../kernel/names/receipt.ts";
import { settlementArguments } from "../kernel/lease/settlement-arguments.ts";
import type { Settlement } from "../kernel/options/types.ts";
import type { Leased, SizedSettlement } from "./to-settlement.ts";
import type { TaskOutcome } from "./types.ts";
import { NonRetryableError, RetryAfter } from "./failures.ts";

/** The outcome of a task whose handler threw. */
export function outcomeOf(thrown: unknown, backoff: Backoff | true): TaskOutcome {
  try {
    if (isNamed(thrown, NonRetryableError, "NonRetryableError")) return { outcome: "reject", error: thrown };
    if (isNamed(thrown, RetryAfter, "RetryAfter")) {
      const { delay, count, queue, cause } = thrown;
      return { outcome: "requeue", delay, count, queue, error: cause ?? thrown };
    }
  } catch {
    // Reading a thrown value may throw as well.
  }
  const error = thrown === undefined ? ownError("the handler threw undefined") : thrown;
  return { outcome: "requeue", backoff, error };
}

// By name too: a bundle may contain a second copy of the class.
function isNamed<E extends Error>(
  thrown: unknown,
  kind: new (...args: never[]) => E,
  name: string,
): thrown is E {
  return thrown instanceof kind || (typeof thrown === "object" && (thrown as Error | null)?.name === name);
}

/** An error of the drain itself. Its stack would say nothing about the handler. */
function ownError(message: string): Error {
  return Object.assign(new Error(message), { stack: undefined });
}

/**
 * The settlement for an outcome that {@link completionOf} has none for. A result or error that cannot be stored is
 * replaced by an error that says so. Values are copied, because the handler's code may still change them.
 * @param storeStack whether Redis gets the stack of an error too
 */
export function settlementOf(
  task: Leased,
  outcome: TaskOutcome,
  { storeStack }: { readonly storeStack: boolean },
): SizedSettlement {
  try {
    return sized(
      outcome.outcome === "complete"
        ? completed(task, outcome.result)
        : outcome.outcome === "requeue"
          ? requeueOf(task, outcome, storeStack)
          : asRejection(task, outcome, storeStack),
    );
  } catch (fault) {
    return sized(requeued(task, ownError(`the handler's outcome is invalid: ${reasonOf(fault)}`)));
  }
}

function sized(settlement: Settlement): SizedSettlement {
  const { text, short } = settlementArguments(settlement, "settlement");
  return { settlement, bytes: byteLength(text + short) };
}

/** The completion of a task, or its rejection if the result cannot be stored. */
function completed({ receipt }: Leased, result: unknown): Settlement {
  try {
    return { receipt, outcome: "complete", result: decodeValue(encodeValue(result, "result")) };
  } catch (fault) {
    // Not requeued: the handler has done its work, and another attempt would do it again.
    const error = ownError(`the work is done, but its result cannot be stored: ${reasonOf(fault)}`);
    return { receipt, outcome: "reject", error };
  }
}

function asRejection(
  { receipt }: Leased,
  outcome: Extract<TaskOutcome, { outcome: "reject" }>,
  storeStack: boolean,
): Settlement {
  if (outcome.outcome === "reject")
    return { receipt, outcome: "reject", error: errorOf(outcome.error, storeStack) };
  throw new SluiceError("invalid_argument", "outcome must be complete, requeue or reject", "outcome");
}

function requeueOf(
  task: Leased,
  outcome: Extract<TaskOutcome, { outcome: "requeue" }>,
  storeStack: boolean,
): Settlement {
  const { delay = 0, backoff, count = true, queue } = outcome;
  const error = errorOf(outcome.error, storeStack);
  const { receipt } = task;
  let ms: number;
  try {
    // Computed once, so that a resent settlement has the same delay.
    ms = backoff === undefined ? milliseconds(delay, "delay") : backoffOf(task, backoff);
  } catch (thrown) {
    const fault = thrown instanceof SluiceError ? thrown.message : `backoff threw ${textOf(thrown)}`;
    const cause = error === undefined ? undefined : ownError(textOf(error));
    const both = new Error(`${fault}; the default backoff applies`, { cause });
    const reported = Object.assign(both, { stack: summarizeError(error)?.stack });
    return requeued(task, errorOf(reported, storeStack));
  }
  // Only a settlement that pauses the queue has the field.
  return { receipt, outcome: "requeue", delay: ms, count, ...(queue && { queue }), error };
}

/** A requeue with the default backoff. */
function requeued(task: Leased, error: unknown): Settlement {
  return { receipt: task.receipt, outcome: "requeue", delay: backoffOf(task), error };
}

function backoffOf({ receipt }: Leased, backoff?: Backoff | true): number {
  return delayAfter(readReceipt(receipt, "receipt").charged, backoff);
}

function textOf(error: unknown): string {
  return lineOf(summarizeError(error) ?? { message: "undefined" });
}

function errorOf(error: unknown, storeStack: boolean): unknown {
  try {
    const copy = decodeValue(encodeError(error, "error"));
    if (!(error instanceof Error)) return copy;
    const { name, message, cause } = copy as Record<"name" | "message", string> & { cause?: string };
    const stack = stackOf(error);
    if (storeStack && stack !== undefined) return withStack(copy as object, stack);
    const kept = new Error(message, cause === undefined ? {} : { cause: ownError(cause) });
    return Object.assign(kept, { name, stack });
  } catch (fault) {
    return ownError(`what the handler threw cannot be stored: ${reasonOf(fault)}`);
  }
}

/** The error as it is stored, with as much of its stack as has room. */
function withStack(error: object, stack: string): object {
  for (let most = stack.length; most > 0; most = Math.floor(most / 2)) {
    const value = { ...error, stack: cut(stack, most) };
    if (byteLength(toJson(value, "error"), MAX_ERROR_BYTES) <= MAX_ERROR_BYTES) return value;
  }
  return error;
}

// Errors of other code may quote a payload, or throw when they are read.
function reasonOf(fault: unknown): string {
  return fault instanceof SluiceError ? fault.message : "it cannot be read";
}
