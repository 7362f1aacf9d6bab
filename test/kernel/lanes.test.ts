import { expect, test } from "vitest";
import { Operator, type DequeueOptions, type NewTask, type Queue, type Settlement } from "../../src/index.ts";
import { bothLanes, byLane } from "../support/both-lanes.ts";
import { dice } from "../support/dice.ts";
import { QUEUE, useRig } from "../support/rig.ts";

const rig = useRig();

const STEPS = 80;

/**
 * What the queue has beside plain tasks. With several kinds, plain lanes hand over to the full ones within a
 * call.
 */
const FEATURES = ["nothing", "retries", "own ids", "groups", "settings", "workers", "all"] as const;

/** Returns a function that makes a random call: most are plain, and some use the feature. */
function drawn(seed: number, feature: (typeof FEATURES)[number]) {
  const roll = dice(seed);
  const chance = (share: number) => roll() < share;
  const among = <T>(...values: T[]): T => values[Math.floor(roll() * values.length)] as T;
  const has = (name: (typeof FEATURES)[number]) => (feature === name || feature === "all") && chance(0.4);
  const held: string[] = [];
  const queue = rig.queue({ transport: bothLanes(rig.transport), coalesce: false });
  const operator = new Operator(QUEUE, { transport: bothLanes(rig.transport), now: () => rig.now });
  let tokens = 0;

  const task = (): NewTask<string> => ({
    payload: "x".repeat(Math.floor(roll() * 300)),
    ...(chance(0.2) && { delay: among(1, 500, 5_000) }),
    ...(chance(0.2) && { lease: among(1_000, 60_000) }),
    ...(chance(0.2) && { maxAttempts: among(0, 1, 2) }),
    ...(chance(0.2) && { resultTtl: among(0, 1_000, 900_000) }),
    ...(chance(0.1) && { deadTtl: 0 }),
    ...(chance(0.1) && { headers: { trace: "é" } }),
    ...(has("own ids") && {
      id: among("a", "b", "c", "d"),
      ...(chance(0.3) ? { again: true } : { unique: among(undefined, 0, 1_000, 900_000) }),
    }),
    ...(has("groups") && { group: among("red", "blue"), priority: among(0, 0, 3) }),
  });
  const pull = (): DequeueOptions => ({
    max: among(1, 1, 1, 3, 40, 200),
    ...(chance(0.3) && { token: `token-${among(tokens, tokens, tokens++)}-abcd` }),
    ...(chance(0.1) && { maxBytes: 400 }),
    ...(chance(0.2) && { lease: 2_000 }),
    ...(has("workers") && { worker: { name: among("w1", "w2"), silentAfter: 3_000 } }),
  });
  const settlement = (): Settlement => {
    // A receipt may be used again, also in the same call.
    const receipt = among(...held.slice(-12), ...held);
    if (!has("retries"))
      return { receipt, outcome: "complete", ...(chance(0.5) && { result: { ok: true } }) };
    return among<Settlement>(
      { receipt, outcome: "requeue", delay: among(0, 700), error: "no", count: chance(0.8) },
      { receipt, outcome: "requeue", unstarted: true },
      { receipt, outcome: "reject", error: "never" },
      { receipt, outcome: "extend", progress: 1 },
      { receipt, outcome: "complete", ttl: among(0, 5_000) },
    );
  };
  const settlements = () => Array.from({ length: among(1, 1, 2, 10) }, settlement);
  const hold = (tasks: Awaited<ReturnType<Queue["dequeue"]>>) =>
    void held.push(...tasks.map(({ receipt }) => receipt));

  return async () => {
    rig.now += among(0, 0, 1, 300, 2_500);
    const step = roll();
    if (step < 0.25) await queue.enqueueMany(Array.from({ length: among(1, 2, 20, 130) }, task));
    else if (step < 0.4) {
      const { payload, ...options } = task();
      await queue.enqueue(payload, options);
    } else if (step < 0.6 || held.length === 0) hold(await queue.dequeue(pull()));
    else if (step < 0.75) await queue.settle(settlements());
    else if (step < 0.92) hold((await queue.settleAndDequeue(settlements(), pull())).tasks);
    else if (step < 0.95) await queue.cancel(among("a", "b", held.at(-1)?.split(".").at(-1) ?? "c"));
    else if (has("settings")) {
      await operator.configure(
        among(
          { statistics: true, events: true },
          { maxWorking: 20 },
          { maxWorking: null },
          { rate: { most: 50, per: 1_000 } },
          { rate: null, statistics: false },
        ),
      );
    }
  };
}

test.each(FEATURES.flatMap((feature) => [1, 2, 3, 4].map((seed) => ({ feature, seed }))))(
  "the plain lanes answer and write the same as the full ones: tasks with $feature, seed $seed",
  async ({ feature, seed }) => {
    const step = drawn(seed, feature);
    for (let i = 0; i < STEPS; i++) {
      await step();
      if (i % 8 === 7) {
        const { plain, full } = byLane(await rig.keySpace());
        expect(plain, `after step ${i}`).toEqual(full);
      }
    }
    const { plain, full } = byLane(await rig.keySpace());
    expect(Object.keys(plain).length).toBeGreaterThan(2);
    expect(plain).toEqual(full);
  },
);
