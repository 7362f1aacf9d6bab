import { afterAll, beforeAll, expect, test } from "vitest";
import { casesMissing } from "./cases.ts";
import { Real } from "./real.ts";
import { KINDS, runModel } from "./run.ts";

let real: Real;
beforeAll(async () => {
  real = await Real.start();
});
afterAll(() => real.way.stop());

/** Calls for each kind of queue, unless it has a number of its own. `npm run test:soak` makes as many as the time allows, from new seeds. */
const CALLS = 1_200;
/** The same calls each time, so that a failure comes from a change of the code. */
const SEED = 20_261_121;

test.each(KINDS)(
  "every call on $name is answered as the model says, and leaves what the model has",
  { timeout: 600_000 },
  async (kind) => {
    const calls = "calls" in kind ? kind.calls : CALLS;
    expect(await runModel(real, kind, { calls, seed: SEED })).toBeGreaterThanOrEqual(calls);
  },
);

test("these calls have met each case that the model distinguishes", () => {
  expect(casesMissing(real.met)).toEqual([]);
});
