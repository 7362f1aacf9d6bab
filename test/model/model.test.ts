import { afterAll, beforeAll, expect, test } from "vitest";
import { Real } from "./real.ts";
import { KINDS, runModel } from "./run.ts";

let real: Real;
beforeAll(async () => {
  real = await Real.start();
});
afterAll(() => real.stop());

/** Calls beside the model; `npm run test:soak` makes as many as the time allows. */
const CALLS = 7_000;

test.each(KINDS)(
  "whatever is asked of $name is answered as the model says, and leaves what the model has",
  { timeout: 600_000 },
  async (kind) => {
    expect(await runModel(real, kind, { calls: CALLS })).toBeGreaterThanOrEqual(CALLS);
  },
);
