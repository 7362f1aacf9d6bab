import { invalidArgument } from "../../errors.ts";
import { typeOf } from "./type-of.ts";

/** The last instant that a date can have, epoch ms. */
export const LAST_INSTANT = 8_640_000_000_000_000;

/**
 * The last instant at which a task can be due, epoch ms. The score of a task with a group or priority is half
 * a millisecond more, and must be exact too.
 */
export const LAST_DUE = 2 ** 52 - 1;

/** What an instant in seconds gets as an error. */
export const IN_SECONDS = "must be in milliseconds: ten digits are taken to be seconds";

/** The instants of ten digits: in seconds they are from 2001 to 2286, in milliseconds of the first months of 1970. */
export const SECONDS = { first: 1_000_000_000, last: 9_999_999_999 } as const;

/** Whether an instant is in seconds by mistake. */
export function isInSeconds(instant: number): boolean {
  return instant >= SECONDS.first && instant <= SECONDS.last;
}

/**
 * An instant, epoch ms.
 * @param value a `Date`, or epoch ms
 * @param last the last instant that is allowed
 * @throws {SluiceError} `invalid_argument`, also if the instant has ten digits, as if it were in seconds
 */
export function instantMs(value: unknown, path: string, last: number): number {
  const ms = typeOf(value) === "Date" ? Number(value) : value;
  if (typeof ms !== "number" || !Number.isInteger(ms) || ms < 0 || ms > last) {
    throw invalidArgument(path, `must be a valid Date, or an instant in epoch ms from 0 to ${last}`);
  }
  if (isInSeconds(ms)) throw invalidArgument(path, IN_SECONDS);
  return ms;
}
