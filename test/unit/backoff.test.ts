import { describe, expect, test } from "vitest";
import { delayAfter, type Backoff } from "../../src/index.ts";
import { RECORD_DEFAULTS } from "../../src/kernel/record/record.ts";
import { useRig } from "../support/rig.ts";

const highest = () => 1;

describe("a backoff", () => {
  test.each<[string, number, number]>([
    ["longest", 1, 1],
    ["shortest", 0, 0.5],
  ])("is exponential by default, from ten seconds to an hour: the %s waits", (_, chance, part) => {
    const attempts = [1, 2, 3, 4, 5, 6, 7, 8, 100_000];
    const seconds = [10, 30, 90, 270, 810, 2_430, 3_600, 3_600, 3_600];
    for (const backoff of [true, {}] as const) {
      const delays = attempts.map((attempt) => delayAfter(attempt, backoff, () => chance));
      expect(delays).toEqual(seconds.map((full) => full * 1_000 * part));
    }
  });

  test("is evenly distributed from half of the delay to the whole", () => {
    const delays = Array.from({ length: 4_000 }, () => delayAfter(3));
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(45_000);
    expect(Math.min(...delays)).toBeLessThan(47_000);
    expect(Math.max(...delays)).toBeGreaterThan(88_000);
    expect(Math.max(...delays)).toBeLessThanOrEqual(90_000);
    const mean = delays.reduce((sum, delay) => sum + delay, 0) / delays.length;
    // Within twenty standard deviations of the mean.
    expect(Math.abs(mean - 67_500)).toBeLessThan(4_200);
  });

  test("takes a base, a factor and a maximum", () => {
    const backoff: Backoff = { base: 100, factor: 3, most: "1s" };
    expect([1, 2, 3, 4].map((attempt) => delayAfter(attempt, backoff, highest))).toEqual([
      100, 300, 900, 1_000,
    ]);
  });

  test("may be a list, whose last entry holds for all further attempts, or a function", () => {
    expect([1, 2, 3].map((attempt) => delayAfter(attempt, ["5s", 60_000]))).toEqual([5_000, 60_000, 60_000]);
    expect([1, 2, 3].map((attempt) => delayAfter(attempt, (n) => n * 60_000))).toEqual([
      60_000, 120_000, 180_000,
    ]);
  });

  test("an outage of an hour loses no task by default", () => {
    // The shortest waits between the first and the last attempt.
    const last = RECORD_DEFAULTS.maxAttempts;
    const waits = Array.from({ length: last - 1 }, (_, i) => delayAfter(i + 1, true, () => 0));
    expect(waits.reduce((sum, wait) => sum + wait)).toBeGreaterThan(3_600_000);
  });

  test("rounds the fractions that a function returns", () => {
    expect([0.4, 0.5, 1_999.6].map((ms) => delayAfter(1, () => ms))).toEqual([0, 1, 2_000]);
  });

  test.each<[unknown, string]>([
    [[], "backoff"],
    [() => -1, "backoff"],
    [() => Number.NaN, "backoff"],
    [async () => 1, "backoff"],
    [() => Promise.reject(new Error("of the backoff")), "backoff"],
    [() => "soon", "backoff"],
    [{ factor: 0.5 }, "backoff.factor"],
    [{ base: "never" }, "backoff.base"],
    [{ most: -1 }, "backoff.most"],
  ])("%o is refused", (backoff, path) => {
    expect(() => delayAfter(2, backoff as Backoff)).toThrow(
      expect.objectContaining({ code: "invalid_argument", path }),
    );
  });
});

describe("a task that is requeued with a backoff", () => {
  const rig = useRig();

  test("waits by its charged attempts, as its receipt has them", async () => {
    const queue = rig.queue();
    await queue.enqueue(1);
    await (await queue.dequeue())[0]?.requeue({ unstarted: true });
    await (await queue.dequeue())[0]?.requeue({ count: false });
    for (const ms of [1_000, 5_000, 5_000]) {
      const [task] = await queue.dequeue();
      const settlement = { receipt: task?.receipt ?? "", outcome: "requeue" } as const;
      expect(await queue.settle([{ ...settlement, backoff: ["1s", "5s"] }])).toMatchObject([
        { dueAt: rig.now + ms },
      ]);
      rig.now += ms;
    }
    const [last] = await queue.dequeue();
    const refused = queue.settle([
      { receipt: last?.receipt ?? "", outcome: "requeue", backoff: { factor: 0 } },
    ]);
    await expect(refused).rejects.toMatchObject({ path: "settlements[0].backoff.factor" });
    await expect(last?.requeue({ backoff: true, delay: 1 })).rejects.toMatchObject({ path: "backoff" });
  });
});
