import { afterAll, beforeAll, expect, test } from "vitest";
import type { Operation } from "./operations.ts";
import { Real } from "./real.ts";
import { KINDS, runModel, START } from "./run.ts";
import { World } from "./world.ts";

let real: Real;
beforeAll(async () => {
  real = await Real.start();
});
afterAll(() => real.way.stop());

/** Calls for each kind of queue. `npm run test:soak` makes as many as the time allows, from new seeds. */
const CALLS = 600;
/** The same calls each time, so that a failure comes from a change of the code. */
const SEED = 20_261_121;

test("thousands of cancelled tasks do not delay the tasks behind them", async () => {
  const ids = Array.from({ length: 2_201 }, (_, i) => `c${i}`);
  const world = new World(START);
  await real.reset(START);
  const call = (operation: Operation) => world.call(real, operation, 0, "none");
  for (let first = 0; first < ids.length; first += 1_000) {
    const tasks = ids.slice(first, first + 1_000).map((id) => ({ id, payload: 0 }));
    await call({ does: "enqueue", key: world.newKey(), tasks, waker: false });
  }
  await call({ does: "cancelMany", ids: ids.slice(0, -1) });
  // The model's answer is the one task that is left.
  await call({ does: "dequeue", token: "token-000001", max: 1, flagged: true });
  await call({ does: "counts" });
});

test.each(KINDS)(
  "every call on $name is answered as the model says, and leaves what the model has",
  { timeout: 600_000 },
  async (kind) => {
    expect(await runModel(real, kind, { calls: CALLS, seed: SEED })).toBeGreaterThanOrEqual(CALLS);
  },
);
