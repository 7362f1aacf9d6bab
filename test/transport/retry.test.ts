import { describe, expect, test } from "vitest";

import { jitteredWait, realTiming, Transient, type Timing } from "../../src/retry.ts";
import { retryPolicy, retryRedis, type RetryOptions } from "../../src/transport/retry.ts";

/** Time that passes only during a sleep or a try. */
function ownTiming(random: () => number = () => 1) {
  const waits: number[] = [];
  let time = 0;
  const timing: Timing = {
    now: () => time,
    random,
    sleep: async (ms) => {
      waits.push(ms);
      time += ms;
    },
  };
  return { timing, waits, take: (ms: number) => (time += ms) };
}

/** Retries tries that fail until the given one. Returns the outcome. */
async function failing(options: RetryOptions, succeedsAt = Infinity, take = 0) {
  const own = ownTiming();
  let tries = 0;
  const end = retryRedis({
    policy: retryPolicy(options),
    timing: own.timing,
    signal: undefined,
    attempt: async () => {
      tries++;
      own.take(take);
      if (tries < succeedsAt) throw new Transient("no luck");
    },
  });
  const error: unknown = await end.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { tries, waits: own.waits, error };
}

describe("the wait between tries", () => {
  const policy = retryPolicy({ firstWait: 50, longestWait: 1_000 });

  test("doubles its upper bound with each try, up to the longest wait", () => {
    const bounds = [1, 2, 3, 4, 5, 6, 7, 50, 5_000].map((tries) => jitteredWait(tries, policy, () => 1));
    expect(bounds).toEqual([50, 100, 200, 400, 800, 1_000, 1_000, 1_000, 1_000]);
  });

  test("is spread evenly from 0 to the bound", () => {
    expect(jitteredWait(3, policy, () => 0)).toBe(0);
    expect(jitteredWait(3, policy, () => 0.25)).toBe(50);
    const waits = Array.from({ length: 1_000 }, () => jitteredWait(3, policy, Math.random));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...waits)).toBeLessThan(200);
    expect(new Set(waits).size).toBeGreaterThan(900);
  });
});

describe("retryPolicy", () => {
  test("has the documented defaults", () => {
    expect(retryPolicy()).toEqual({
      deadline: 10_000,
      tryTimeout: 5_000,
      tries: Number.MAX_SAFE_INTEGER,
      firstWait: 50,
      longestWait: 1_000,
    });
  });

  test("leaves an undefined option at its default", () => {
    expect(retryPolicy({ deadline: undefined, tries: 3 })).toEqual({ ...retryPolicy(), tries: 3 });
  });

  test.each([
    [{ deadline: 0 }, "retry.deadline must be a number of milliseconds from 1 to 2147483647"],
    [{ deadline: Number.NaN }, "retry.deadline must be a number of milliseconds from 1 to 2147483647"],
    [{ tryTimeout: Infinity }, "retry.tryTimeout must be a number of milliseconds from 1 to 2147483647"],
    [{ firstWait: -1 }, "retry.firstWait must be a number of milliseconds from 0 to 2147483647"],
    [{ tries: 0 }, "retry.tries must be a number of tries from 1 to 9007199254740991"],
    [
      { retries: 3 },
      "retry.retries is an unknown option; expected one of deadline, tryTimeout, tries, firstWait, longestWait",
    ],
  ])("refuses %o", (options: object, message) => {
    expect(() => retryPolicy(options)).toThrow(
      expect.objectContaining({ code: "invalid_argument", message, path: message.split(" ")[0] }),
    );
  });
});

describe("retryRedis", () => {
  test("stops at the first success", async () => {
    expect(await failing({}, 3)).toEqual({ tries: 3, waits: [50, 100], error: undefined });
  });

  test("gives up when the next wait would reach past the deadline, and says why", async () => {
    const { tries, waits, error } = await failing({ deadline: 1_000 }, Infinity, 100);
    // Tries of 100 ms at 0, 150, 350, 650; the next would begin at 1,150.
    expect({ tries, waits }).toEqual({ tries: 4, waits: [50, 100, 200] });
    expect(error).toMatchObject({
      code: "redis_unreachable",
      message: "Redis gave no useful answer in 4 tries over 750 ms; the last time: no luck",
    });
  });

  test("makes no more tries than allowed", async () => {
    const { tries, waits, error } = await failing({ tries: 1 });
    expect({ tries, waits }).toEqual({ tries: 1, waits: [] });
    expect(error).toMatchObject({
      message: "Redis gave no useful answer in 1 try over 0 ms; the last time: no luck",
    });
  });

  test("begins no try after a sleep that lasted past the deadline", async () => {
    const own = ownTiming();
    let tries = 0;
    const end = retryRedis({
      policy: retryPolicy({ deadline: 100 }),
      timing: { ...own.timing, sleep: async () => void own.take(500) },
      signal: undefined,
      attempt: async () => {
        tries++;
        throw new Transient("no luck");
      },
    });
    await expect(end).rejects.toMatchObject({
      code: "redis_unreachable",
      message: "Redis gave no useful answer in 1 try over 500 ms; the last time: no luck",
    });
    expect(tries).toBe(1);
  });

  test("tries again at once, without a wait, if the answer asks for it", async () => {
    const own = ownTiming();
    const answers = ["again", "again", "done"] as const;
    let tries = 0;
    await retryRedis({
      policy: retryPolicy(),
      timing: own.timing,
      signal: undefined,
      attempt: async () => tries++,
      accept: (index) => answers[index] ?? "done",
    });
    expect({ tries, waits: own.waits }).toEqual({ tries: 3, waits: [] });
  });

  test("lets every other error through untouched", async () => {
    const bug = new TypeError("a bug");
    const { timing, waits } = ownTiming();
    const end = retryRedis({
      policy: retryPolicy(),
      timing,
      signal: undefined,
      attempt: () => Promise.reject(bug),
    });
    await expect(end).rejects.toBe(bug);
    expect(waits).toEqual([]);
  });

  test("ends a try that does not answer at its timeout, and drops its later result", async () => {
    const accepted: string[] = [];
    let late: Promise<string> | undefined;
    await retryRedis<string>({
      policy: retryPolicy({ tryTimeout: 20, firstWait: 0 }),
      timing: realTiming,
      signal: undefined,
      attempt: ({ signal }) => {
        if (late) return Promise.resolve("second");
        late = new Promise((resolve) => signal.addEventListener("abort", () => resolve("first, late")));
        return late;
      },
      accept: (result) => {
        accepted.push(result);
        return "done";
      },
    });
    expect(await late).toBe("first, late");
    expect(accepted).toEqual(["second"]);
  });

  test("a last try that the deadline cuts short does not hide why the others failed", async () => {
    const own = ownTiming();
    let tries = 0;
    const end = retryRedis({
      policy: retryPolicy({ deadline: 100 }),
      timing: own.timing,
      signal: undefined,
      attempt: () => {
        if (++tries === 1) return Promise.reject(new Transient("no luck"));
        own.take(50);
        return new Promise<never>(() => undefined);
      },
    });
    await expect(end).rejects.toMatchObject({
      message: "Redis gave no useful answer in 2 tries over 100 ms; the last time: no luck",
    });
  });

  test("a try that never settles ends at the deadline", async () => {
    const end = retryRedis({
      policy: retryPolicy({ deadline: 30, tryTimeout: 2_147_483_647 }),
      timing: realTiming,
      signal: undefined,
      attempt: () => new Promise<never>(() => undefined),
    });
    await expect(end).rejects.toMatchObject({ code: "redis_unreachable" });
  });
});

describe("a caller's signal", () => {
  test("that is aborted already lets no try begin", async () => {
    let tries = 0;
    const end = retryRedis({
      policy: retryPolicy(),
      timing: realTiming,
      signal: AbortSignal.abort(),
      attempt: async () => tries++,
    });
    await expect(end).rejects.toMatchObject({ code: "aborted" });
    expect(tries).toBe(0);
  });

  test("ends a try and aborts it", async () => {
    const controller = new AbortController();
    let aborted = false;
    const end = retryRedis({
      policy: retryPolicy(),
      timing: realTiming,
      signal: controller.signal,
      attempt: ({ signal }) => {
        signal.addEventListener("abort", () => (aborted = true));
        queueMicrotask(() => controller.abort());
        return new Promise<never>(() => undefined);
      },
    });
    await expect(end).rejects.toMatchObject({ code: "aborted" });
    expect(aborted).toBe(true);
  });

  test("ends a wait of an hour at once", async () => {
    const controller = new AbortController();
    let tries = 0;
    const end = retryRedis({
      policy: retryPolicy({ deadline: 7_200_000, firstWait: 3_600_000, longestWait: 3_600_000 }),
      timing: { ...realTiming, random: () => 1 },
      signal: controller.signal,
      attempt: () => {
        tries++;
        setTimeout(() => controller.abort(), 5);
        return Promise.reject(new Transient("no luck"));
      },
    });
    await expect(end).rejects.toMatchObject({ code: "aborted" });
    expect(tries).toBe(1);
  });
});
