import type { Backoff } from "../kernel/options/backoff.ts";
import type { MaybePromise } from "../kernel/maybe-promise.ts";
import { completionOf, type Leased, type SizedSettlement } from "./to-settlement.ts";
import type { TaskOutcome } from "./types.ts";

/** What became of the tasks of a handler's call. */
export interface CallEnd {
  readonly outcomes: readonly TaskOutcome[];
  /** The settlement of the task in this place. */
  readonly settlementOf: (place: number) => SizedSettlement;
}

/** How failed attempts are settled. */
export interface FailureOptions {
  readonly backoff: Backoff | true;
  /** Whether Redis gets the stack of an error too. */
  readonly storeStack: boolean;
}

/** What failed attempts need. It is loaded with the first one. */
let failed: typeof import("./failed-attempt.ts") | undefined;

/**
 * The end of a call.
 * @param outcomes what its handler has returned; undefined if it has thrown, or was given up
 * @returns a promise only if an attempt has failed, and what it needs is not loaded yet
 */
export function endOf(
  tasks: readonly Leased[],
  outcomes: readonly TaskOutcome[] | undefined,
  thrown: unknown,
  options: FailureOptions,
): MaybePromise<CallEnd> {
  const completions = tasks.map((task, i) => completionOf(task, outcomes?.[i]));
  if (outcomes && !completions.includes(undefined)) {
    return { outcomes, settlementOf: (i) => completions[i] as SizedSettlement };
  }
  const end = ({ outcomeOf, settlementOf }: NonNullable<typeof failed>): CallEnd => {
    const all = outcomes ?? Array<TaskOutcome>(tasks.length).fill(outcomeOf(thrown, options.backoff));
    return {
      outcomes: all,
      settlementOf: (i) => completions[i] ?? settlementOf(tasks[i] as Leased, all[i] as TaskOutcome, options),
    };
  };
  return failed ? end(failed) : import("./failed-attempt.ts").then((code) => end((failed = code)));
}
