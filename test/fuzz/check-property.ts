import type { Arbitrary } from "fast-check";
import * as fc from "fast-check";
import { messageOf } from "../../src/errors.ts";
import type { Route } from "./document.ts";

/** How many requests are sent, drawn from `seed`. */
export interface Sending {
  readonly seed: number;
  /** About that many, because the length of an array is random. */
  readonly requests: number;
  /** Called for each request. */
  readonly sent: (route: Route) => void;
  /** Called as soon as there is a failure. */
  readonly reported: (line: string) => void;
}

/** How long to look for a smaller counterexample, ms. A sequence takes a second, and there are hundreds. */
const SHRINKING = 60_000;

/**
 * Checks arrays of requests, at most `longest` each, until about that many requests were drawn.
 * @throws if a check fails, with the seed, the smallest array found to fail within a minute, and what was
 * wrong
 */
export async function checkProperty<T>(
  drawn: Arbitrary<T>,
  longest: number,
  { seed, requests, reported }: Sending,
  check: (one: T) => Promise<void>,
): Promise<void> {
  let end = Number.POSITIVE_INFINITY;
  const property = fc.asyncProperty(drawn, async (one) => {
    // Once the time is up every further try passes, so that the smallest so far is the result. fast-check's
    // limits of time count from the start of a run and would cut off the requests, too.
    if (performance.now() > end) return;
    try {
      await check(one);
    } catch (error) {
      if (end === Number.POSITIVE_INFINITY) {
        end = performance.now() + SHRINKING;
        reported(`failed; looking for less that fails, for a minute at most: ${escaped(messageOf(error))}`);
      }
      throw error;
    }
  });
  // On average an array has half of its greatest length.
  const numRuns = Math.ceil((2 * requests) / (longest + 1));
  const found = await fc.check(property, { seed, numRuns, includeErrorInReport: true });
  if (found.failed) throw new Error(escaped((await fc.asyncDefaultReportMessage(found)) ?? "failed"));
}

/** The text with \u escapes for invisible characters, except line ends. */
export function escaped(text: string): string {
  return text.replaceAll(/(?!\n)[\p{C}\u2028\u2029]/gu, (unseen) =>
    Array.from({ length: unseen.length }, (_, i) => unseen.charCodeAt(i))
      .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
      .join(""),
  );
}
