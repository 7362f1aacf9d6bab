import type { Arbitrary } from "fast-check";
import * as fc from "fast-check";
import { messageOf } from "../../src/errors.ts";
import type { Route } from "./document.ts";

/** How much is sent, of what is drawn from `seed`. */
export interface Sending {
  readonly seed: number;
  /** About so many: how long an array is, is drawn, too. */
  readonly requests: number;
  /** Told of each request. */
  readonly sent: (route: Route) => void;
  /** Told of a failure as soon as there is one. */
  readonly reported: (line: string) => void;
}

/** How long a smaller counterexample is looked for, ms. A sequence takes a second, and there are hundreds to try. */
const SHRINKING = 60_000;

/**
 * Checks arrays of requests, at most `longest` each, until about so many requests were drawn.
 * @throws where a check fails, with the seed, the smallest array found to fail within a minute, and what was wrong
 */
export async function hold<T>(
  drawn: Arbitrary<T>,
  longest: number,
  { seed, requests, reported }: Sending,
  check: (one: T) => Promise<void>,
): Promise<void> {
  let end = Number.POSITIVE_INFINITY;
  const property = fc.asyncProperty(drawn, async (one) => {
    // Once time is up all that is left to try passes, so that the smallest so far is it. fast-check's own limits of
    // time count from the start of a run: they would cut off what is sent, too.
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
  // On average an array is half as long as it may be.
  const numRuns = Math.ceil((2 * requests) / (longest + 1));
  const found = await fc.check(property, { seed, numRuns, includeErrorInReport: true });
  if (found.failed) throw new Error(escaped((await fc.asyncDefaultReportMessage(found)) ?? "failed"));
}

/** The text with \u escapes for whatever is not seen, but for the ends of its lines. */
export function escaped(text: string): string {
  return text.replaceAll(/(?!\n)[\p{C}\u2028\u2029]/gu, (unseen) =>
    Array.from({ length: unseen.length }, (_, i) => unseen.charCodeAt(i))
      .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
      .join(""),
  );
}
