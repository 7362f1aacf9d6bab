import { afterAll, beforeAll, expect, test } from "vitest";
import { Real } from "./real.ts";
import { KINDS, runModel } from "./run.ts";
import { MET, MET_SHARED } from "./met.ts";

let real: Real;
beforeAll(async () => {
  real = await Real.start();
});
afterAll(() => real.stop());

/** Of each kind of queue. `npm run test:soak` makes as many as the time allows, others each time. */
const CALLS = 5_050;
/** The same calls each time: what fails then is what was changed. */
const SEED = 20_261_121;

test.each(KINDS)(
  "whatever is asked of $name is answered as the model says, and leaves what the model has",
  { timeout: 600_000 },
  async (kind) => {
    real.met.clear();
    expect(await runModel(real, kind, { calls: CALLS, seed: SEED })).toBeGreaterThanOrEqual(CALLS);
    const expected = kind.shared ? [...MET, ...MET_SHARED] : MET;
    expect(expected.filter((one) => !real.met.has(one))).toEqual([]);
  },
);
