import { describe, expect, test } from "vitest";
import { DurationEstimator } from "../../src/consumer/drain/duration-estimator.ts";
import { Pace, type PaceOptions } from "../../src/consumer/drain/pace.ts";

/** A pace with calls of `mean` ms and round trips of `roundTrip` ms, where so many wait and run. */
function pace(
  {
    mean,
    roundTrip,
    waiting = 0,
    running,
  }: Record<"mean" | "roundTrip", number> & {
    readonly waiting?: number;
    readonly running?: number;
  },
  options: Partial<PaceOptions> = {},
): Pace {
  const { concurrency = 20, batch, wholeBatches = false } = options;
  const trips = new DurationEstimator();
  trips.add(roundTrip);
  const handlers = {
    isIdle: waiting === 0 && running === 0,
    waitingCalls: waiting,
    freeHandlers: concurrency - (running ?? concurrency),
    meanDuration: mean,
    callsBegunWithin: (ms: number) => (mean === 0 ? 0 : (concurrency * ms) / mean),
  };
  return new Pace({ concurrency, batch, wholeBatches }, handlers, trips);
}

describe("a drain pulls ahead", () => {
  // 20 calls of 25 ms: a round trip of 5 ms is the time in which four begin.
  test.each([
    [0, true],
    [3, true],
    [4, false],
  ])("when the %i that wait will have begun within a round trip: %s", (waiting, runsOut) => {
    expect(pace({ mean: 25, roundTrip: 5, waiting }).runsOut).toBe(runsOut);
  });

  test.each<[string, Parameters<typeof pace>[0], Partial<PaceOptions>]>([
    ["as long as nobody knows how long handlers take", { mean: 0, roundTrip: 5 }, {}],
    ["for handlers so long that none ends within a round trip", { mean: 1_000, roundTrip: 5 }, {}],
    ["for one handler at a time", { mean: 1, roundTrip: 5 }, { concurrency: 1 }],
    ["for handlers of whole pulls", { mean: 1, roundTrip: 5 }, { wholeBatches: true }],
    ["where a pull gives one task", { mean: 1, roundTrip: 5 }, { batch: 1 }],
    ["where nothing runs", { mean: 1, roundTrip: 5, running: 0 }, {}],
    ["beyond half of a pull", { mean: 1, roundTrip: 5, waiting: 5 }, { batch: 10 }],
  ])("not %s", (_, state, options) => {
    expect(pace(state, options).runsOut).toBe(false);
  });
});

describe("a pull asks for", () => {
  test.each<[string, number, Parameters<typeof pace>[0], Partial<PaceOptions>]>([
    ["what it is told", 7, { mean: 1, roundTrip: 50 }, { batch: 7 }],
    ["what could run at once, where nothing is known", 20, { mean: 0, roundTrip: 5, running: 0 }, {}],
    ["10 at least", 10, { mean: 0, roundTrip: 5, running: 0 }, { concurrency: 5 }],
    ["10 where handlers are long", 10, { mean: 60_000, roundTrip: 5 }, { concurrency: 200 }],
    ["what begins in half a call and a round trip", 26, { mean: 25, roundTrip: 20 }, {}],
    ["less by what waits", 18, { mean: 25, roundTrip: 20, waiting: 8 }, {}],
    ["more by what could run", 31, { mean: 25, roundTrip: 20, running: 15 }, {}],
    ["100 at most", 100, { mean: 0.1, roundTrip: 5 }, {}],
  ])("%s: %i", (_, batch, state, options) => {
    expect(pace(state, options).batch).toBe(batch);
  });
});
