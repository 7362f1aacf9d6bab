import { describe, expect, test } from "vitest";
import { delayAfter, type Backoff } from "../../src/index.ts";
import { useRig } from "../support/rig.ts";

const highest = () => 1;

describe("a backoff", () => {
  test("is exponential by default, from a second to a quarter of an hour", () => {
    const delays = [1, 2, 3, 4, 10, 11, 12, 100_000].map((attempt) => delayAfter(attempt, {}, highest));
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 512_000, 900_000, 900_000, 900_000]);
  });

  test("with full jitter is evenly distributed from 0 to the delay", () => {
    const delays = Array.from({ length: 4_000 }, () => delayAfter(3));
    expect(Math.min(...delays)).toBeLessThan(200);
    expect(Math.max(...delays)).toBeGreaterThan(3_800);
    expect(Math.max(...delays)).toBeLessThanOrEqual(4_000);
    const mean = delays.reduce((sum, delay) => sum + delay, 0) / delays.length;
    // Within twenty standard deviations of the mean.
    expect(Math.abs(mean - 2_000)).toBeLessThan(370);
  });

  test("takes a base, a factor and a maximum", () => {
    const backoff: Backoff = { base: 100, factor: 3, most: "1s" };
    expect([1, 2, 3, 4].map((attempt) => delayAfter(attempt, backoff, highest))).toEqual([
      100, 300, 900, 1_000,
    ]);
  });

  test("may be a list, whose last entry holds for all further attempts, or a function", () => {
    expect([1, 2, 3].map((attempt) => delayAfter(attempt, ["5s", 60_000]))).toEqual([5_000, 60_000, 60_000]);
    expect([1, 2, 3].map((attempt) => delayAfter(attempt, (n) => `${n}m`))).toEqual([
      60_000, 120_000, 180_000,
    ]);
  });

  test.each<[unknown, string]>([
    [[], "backoff"],
    [() => -1, "backoff"],
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

  test("waits by its attempt", async () => {
    const queue = rig.queue();
    await queue.enqueue(1);
    const [first] = await queue.dequeue();
    expect(await first?.requeue({ backoff: ["1s", "5s"] })).toMatchObject({ dueAt: rig.now + 1_000 });
    rig.now += 1_000;
    const [second] = await queue.dequeue();
    expect(await second?.requeue({ backoff: ["1s", "5s"] })).toMatchObject({ dueAt: rig.now + 5_000 });
    rig.now += 5_000;
    const [third] = await queue.dequeue();
    const answer = await third?.requeue({ backoff: true });
    expect(answer).toMatchObject({ ok: true });
    await expect(third?.requeue({ backoff: true, delay: 1 })).rejects.toMatchObject({
      path: "backoff",
    });
  });

  test("waits by the attempt of its receipt, also in settle", async () => {
    const queue = rig.queue();
    await queue.enqueue(1);
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
  });
});
