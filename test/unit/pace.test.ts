import { describe, expect, test } from "vitest";
import { DurationEstimator } from "../../src/drain/duration-estimator.ts";
import { Pace, type PaceOptions } from "../../src/drain/pace.ts";

/**
 * A pace with calls of `mean` ms and round trips of `roundTrip` ms, and so many tasks waiting and running.
 */
function pace(
  {
    mean,
    roundTrip,
    waiting = 0,
    running,
    dequeues = 0,
  }: Record<"mean" | "roundTrip", number> & {
    readonly waiting?: number;
    readonly running?: number;
    readonly dequeues?: number;
  },
  options: Partial<PaceOptions> = {},
): Pace {
  const { concurrency = 20, batch, wholeBatches = false, connected = false } = options;
  const trips = new DurationEstimator();
  trips.add(roundTrip);
  const handlers = {
    isIdle: waiting === 0 && running === 0,
    waitingCalls: waiting,
    freeHandlers: concurrency - (running ?? concurrency),
    meanDuration: mean,
    callsBegunWithin: (ms: number) => (mean === 0 ? 0 : (concurrency * ms) / mean),
  };
  return new Pace({ concurrency, batch, wholeBatches, connected }, handlers, { dequeues, roundTrip: trips });
}

describe("a drain dequeues ahead", () => {
  // 20 calls of 25 ms: in a round trip of 5 ms four calls start.
  test.each([
    [0, true],
    [3, true],
    [4, false],
  ])("if the %i waiting tasks will have started within a round trip: %s", (waiting, runsOut) => {
    expect(pace({ mean: 25, roundTrip: 5, waiting }).runsOut).toBe(runsOut);
  });

  test.each<[string, Parameters<typeof pace>[0], Partial<PaceOptions>]>([
    ["as long as the duration of handlers is unknown", { mean: 0, roundTrip: 5 }, {}],
    ["for handlers so long that none ends within a round trip", { mean: 1_000, roundTrip: 5 }, {}],
    ["for one handler at a time", { mean: 1, roundTrip: 5 }, { concurrency: 1 }],
    ["for handlers of whole batches", { mean: 1, roundTrip: 5 }, { wholeBatches: true }],
    ["if a batch is one task", { mean: 1, roundTrip: 5 }, { batch: 1 }],
    ["if no handler runs", { mean: 1, roundTrip: 5, running: 0 }, {}],
    ["beyond half of a batch", { mean: 1, roundTrip: 5, waiting: 5 }, { batch: 10 }],
    // 20 calls of 25 ms: in 12.5 ms ten calls start, in a round trip four.
    ["over TCP beyond two round trips", { mean: 25, roundTrip: 5, waiting: 9 }, { connected: true }],
    ["over TCP if none ends soon", { mean: 1_000, roundTrip: 5 }, { connected: true, concurrency: 5 }],
  ])("not %s", (_, state, options) => {
    expect(pace(state, options).runsOut).toBe(false);
  });
});

test.each([
  [20, 8],
  [1, 0],
])(
  "over TCP also if they start within two, or one handler works: %i handlers, %i waiting",
  (concurrency, waiting) => {
    expect(
      pace({ mean: (25 * concurrency) / 20, roundTrip: 5, waiting }, { connected: true, concurrency })
        .runsOut,
    ).toBe(true);
  },
);

describe("a dequeue asks for", () => {
  test.each<[string, number, Parameters<typeof pace>[0], Partial<PaceOptions>]>([
    ["the given batch size", 7, { mean: 1, roundTrip: 50 }, { batch: 7 }],
    ["as many as can run at once, if no durations are known", 20, { mean: 0, roundTrip: 5, running: 0 }, {}],
    [
      "no more than can begin, if requests cost little",
      5,
      { mean: 0, roundTrip: 5, running: 0 },
      { concurrency: 5, connected: true },
    ],
    ["over TCP also those that begin soon", 30, { mean: 25, roundTrip: 5, running: 0 }, { connected: true }],
    ["at least 1", 1, { mean: 1_000, roundTrip: 5, waiting: 1 }, { connected: true }],
    ["at least 10", 10, { mean: 0, roundTrip: 5, running: 0 }, { concurrency: 5 }],
    ["10 for long handlers", 10, { mean: 60_000, roundTrip: 5 }, { concurrency: 200 }],
    ["as many as start in half a call and a round trip", 26, { mean: 25, roundTrip: 20 }, {}],
    ["fewer by the waiting tasks", 18, { mean: 25, roundTrip: 20, waiting: 8 }, {}],
    ["more by the free handlers", 31, { mean: 25, roundTrip: 20, running: 15 }, {}],
    ["at most 100", 100, { mean: 0.1, roundTrip: 5 }, {}],
  ])("%s: %i", (_, batch, state, options) => {
    expect(pace(state, options).batch).toBe(batch);
  });
});

describe("over TCP, with handlers so quick that they begin 200 tasks in 10 ms", () => {
  const quick = { mean: 1, roundTrip: 1 };
  const connected = { connected: true };

  test("a dequeue asks for 100 tasks", () => {
    const { isQuick, batch } = pace(quick, connected);
    expect([isQuick, batch]).toEqual([true, 100]);
  });

  test.each([
    [0, 0, true],
    [100, 0, true],
    [101, 0, false],
    [0, 1, true],
    [1, 1, false],
  ])("%i tasks wait, %i dequeues are under way: another one may go out: %s", (waiting, dequeues, runsOut) => {
    expect(pace({ ...quick, waiting, dequeues }, connected).runsOut).toBe(runsOut);
  });

  test.each<[string, number, Partial<PaceOptions>]>([
    ["for slower handlers", 1.1, connected],
    ["with a given batch", 1, { ...connected, batch: 100 }],
    ["over HTTP", 1, {}],
  ])("not %s", (_, mean, options) => {
    expect(pace({ mean, roundTrip: 1 }, options).isQuick).toBe(false);
  });
});
