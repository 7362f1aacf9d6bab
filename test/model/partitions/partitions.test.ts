import { afterAll, beforeAll, expect, test } from "vitest";
import { RealPartitions } from "./real.ts";
import { runPartitionsModel } from "./run.ts";

let real: RealPartitions;
beforeAll(async () => {
  real = await RealPartitions.start();
});
afterAll(() => real.stop());

/** Other runs than `npm test` make fewer calls. `npm run test:soak` makes as many as the time allows, from new seeds. */
const CALLS = process.env["SLUICE_MODEL"] === "short" ? 200 : 1_200;
/** The same calls each time, so that a failure comes from a change of the code. */
const SEED = 20_261_125;

test(
  "every call on a queue with partitions is answered as the model admits, whose number changes meanwhile",
  { timeout: 600_000 },
  async () => {
    expect(await runPartitionsModel(real, { calls: CALLS, seed: SEED })).toBeGreaterThanOrEqual(CALLS);
  },
);
