import { afterAll, beforeAll, expect, test } from "vitest";
import { RealPartitions } from "../../proofs/model/partitions/real.ts";
import { runPartitionsModel } from "../../proofs/model/partitions/run.ts";
import { Way } from "../../proofs/model/way.ts";

// The model of partitions beside the real queue. The tests beside this one have what random calls seldom reach.

let way: Way;
beforeAll(async () => void (way = await Way.start()));
afterAll(() => way.stop());

/** The same calls each time, so that a failure comes from a change of the code. `npm run test:soak` has new seeds. */
const SEED = 20_261_130;

/** @param calls how many at least */
async function compare(calls: number, isOrdered: boolean): Promise<void> {
  const run = runPartitionsModel(new RealPartitions(way), { calls, seed: SEED }, isOrdered);
  expect(await run).toBeGreaterThanOrEqual(calls);
}

test(
  "every call on a queue whose partitions change is answered as the model says, and leaves what the model has",
  { timeout: 600_000 },
  () => compare(1_500, false),
);

test(
  "every call on a queue in strict order whose partitions change is answered as the model says",
  { timeout: 600_000 },
  () => compare(250, true),
);
