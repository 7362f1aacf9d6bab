import { afterAll, beforeAll, expect, test } from "vitest";
import { RealPartitions } from "../../proofs/model/partitions/real.ts";
import { runPartitionsModel } from "../../proofs/model/partitions/run.ts";
import { Way } from "../../proofs/model/way.ts";

// The model of partitions beside the real queue. The tests beside this one have what random calls seldom reach.

let way: Way;
beforeAll(async () => void (way = await Way.start()));
afterAll(() => way.stop());

/** `npm run test:soak` makes as many as the time allows, from new seeds. */
const CALLS = 1_500;
/** The same calls each time, so that a failure comes from a change of the code. */
const SEED = 20_261_130;

test(
  "every call on a queue whose partitions change is answered as the model says, and leaves what the model has",
  { timeout: 600_000 },
  async () => {
    const bounds = { calls: CALLS, seed: SEED };
    expect(await runPartitionsModel(new RealPartitions(way), bounds)).toBeGreaterThanOrEqual(CALLS);
  },
);
