import { milliseconds, type Duration } from "../options/duration.ts";
import { onlyOptions, wholeNumber } from "../options/validation.ts";

export interface WaitOptions {
  /** How long to wait or watch. @default "20s" for `wait`, until the task's end for `watch` */
  readonly for?: Duration | undefined;
  /**
   * Pause between two reads of the task, 10 ms to 1 h.
   * @default 250 ms after a change, then doubling up to 2 s
   */
  readonly every?: Duration | undefined;
  /** Ends the call at once: `wait` throws `aborted`, `watch` ends without an error. */
  readonly signal?: AbortSignal | undefined;
}

export interface WatchOptions extends WaitOptions {
  /**
   * The last version that an earlier watch reported, to continue after it.
   * @default begin with the current state
   */
  readonly after?: number | undefined;
}

/** A watch as its options ask for it. */
export interface Watch {
  readonly after: number | undefined;
  /** ms */
  readonly duration: number;
  /** ms */
  readonly every: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** @throws {SluiceError} `invalid_argument` */
export function checkedWatch(options: WatchOptions): Watch {
  onlyOptions(options, ["after", "for", "every", "signal"]);
  const { after, for: duration, every, signal } = options;
  return {
    after: after === undefined ? undefined : wholeNumber(after, "after", 0, 2 ** 53 - 1),
    duration: duration === undefined ? Number.POSITIVE_INFINITY : milliseconds(duration, "for"),
    every: every === undefined ? undefined : milliseconds(every, "every", { min: 10, max: 3_600_000 }),
    signal,
  };
}
