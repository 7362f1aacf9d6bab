import { describe, expect, test } from "vitest";

import { jitteredWait, realTiming, Transient, type Timing } from "../../src/retry.ts";
import { retryPolicy, retryRedis, type RetryOptions } from "../../src/transports/retry.ts";

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

type Attempt = Parameters<typeof retryRedis>[0]["attempt"];
type Retrying = Partial<Omit<Parameters<typeof retryRedis>[0], "policy" | "attempt">>;

const retry = (attempt: Attempt, policy: RetryOptions = {}, more: Retrying = {}) =>
  retryRedis({ policy: retryPolicy(policy), timing: realTiming, signal: undefined, attempt, ...more });

/** Retries tries that fail until the given one. Returns the outcome. */
async function failing(policy: RetryOptions, succeedsAt = Infinity, take = 0) {
  const own = ownTiming();
  let tries = 0;
  const attempt = async () => {
    tries++;
    own.take(take);
    if (tries < succeedsAt) throw new Transient("no luck");
  };
  const error: unknown = await retry(attempt, policy, own).catch((reason: unknown) => reason);
  return { tries, waits: own.waits, error };
}

const gaveUp = (effort: string) =>
  expect.objectContaining({
    code: "redis_unreachable",
    message: `Redis gave no useful answer in ${effort}; the last time: no luck`,
  });
const never = () => new Promise<never>(() => undefined);

describe("the wait between tries", () => {
  const policy = retryPolicy({ firstWait: 50, longestWait: 1_000 });

  test("doubles its upper bound with each try, up to the longest wait", () => {
    const bounds = [1, 2, 3, 4, 5, 6, 7, 50, 5_000].map((tries) => jitteredWait(tries, policy, () => 1));
    expect(bounds).toEqual([50, 100, 200, 400, 800, 1_000, 1_000, 1_000, 1_000]);
  });

  test("is spread evenly from 0 to the bound", () => {
    expect(jitteredWait(3, policy, () => 0)).toBe(0);
    expect(jitteredWait(3, policy, () => 0.25)).toBe(50);
  });
});

describe("retryPolicy", () => {
  test("has the documented defaults, also for undefined options", () => {
    const defaults = { deadline: 10_000, tryTimeout: 5_000, firstWait: 50, longestWait: 1_000 };
    expect(retryPolicy()).toEqual({ ...defaults, tries: Number.MAX_SAFE_INTEGER });
    expect(retryPolicy({ deadline: undefined, tries: 3 })).toEqual({ ...defaults, tries: 3 });
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
  test.each([
    ["stops at the first success", {}, 3, 0, { tries: 3, waits: [50, 100], error: undefined }],
    // Tries of 100 ms at 0, 150, 350, 650; the next would begin at 1,150.
    [
      "gives up when the next wait would reach past the deadline",
      { deadline: 1_000 },
      Infinity,
      100,
      { tries: 4, waits: [50, 100, 200], error: gaveUp("4 tries over 750 ms") },
    ],
  ])("%s", async (_, policy, succeedsAt, take, outcome) => {
    expect(await failing(policy, succeedsAt, take)).toEqual(outcome);
  });

  test("begins no try after a sleep that lasted past the deadline", async () => {
    const own = ownTiming();
    const timing = { ...own.timing, sleep: async () => void own.take(500) };
    const attempt = () => Promise.reject(new Transient("no luck"));
    const end = retry(attempt, { deadline: 100 }, { timing });
    await expect(end).rejects.toEqual(gaveUp("1 try over 500 ms"));
  });

  test("tries again at once, without a wait, if the answer asks for it", async () => {
    const own = ownTiming();
    let tries = 0;
    const accept = () => (tries < 3 ? "again" : "done");
    await retry(async () => tries++, {}, { ...own, accept });
    expect({ tries, waits: own.waits }).toEqual({ tries: 3, waits: [] });
  });

  test("lets every other error through untouched", async () => {
    const bug = new TypeError("a bug");
    const own = ownTiming();
    await expect(retry(() => Promise.reject(bug), {}, own)).rejects.toBe(bug);
    expect(own.waits).toEqual([]);
  });

  test("ends a try that does not answer at its timeout, and drops its later result", async () => {
    const accepted: unknown[] = [];
    let late: Promise<string> | undefined;
    const attempt: Attempt = ({ signal }) => {
      if (late) return Promise.resolve("second");
      late = new Promise((resolve) => signal.addEventListener("abort", () => resolve("first, late")));
      return late;
    };
    const accept = (result: unknown) => (accepted.push(result), "done" as const);
    await retry(attempt, { tryTimeout: 20, firstWait: 0 }, { accept });
    expect(await late).toBe("first, late");
    expect(accepted).toEqual(["second"]);
  });

  test("a last try that the deadline cuts short does not hide why the others failed", async () => {
    const own = ownTiming();
    let tries = 0;
    const attempt = () => {
      if (++tries === 1) return Promise.reject(new Transient("no luck"));
      own.take(50);
      return never();
    };
    await expect(retry(attempt, { deadline: 100 }, own)).rejects.toEqual(gaveUp("2 tries over 100 ms"));
  });
});

describe("a caller's signal", () => {
  test("ends a try and aborts it", async () => {
    const controller = new AbortController();
    let aborted = false;
    const attempt: Attempt = ({ signal }) => {
      signal.addEventListener("abort", () => (aborted = true));
      queueMicrotask(() => controller.abort());
      return never();
    };
    const end = retry(attempt, {}, { signal: controller.signal });
    await expect(end).rejects.toMatchObject({ code: "aborted" });
    expect(aborted).toBe(true);
  });

  test("ends a wait of an hour at once", async () => {
    const controller = new AbortController();
    let tries = 0;
    const attempt = () => {
      tries++;
      setTimeout(() => controller.abort(), 5);
      return Promise.reject(new Transient("no luck"));
    };
    const hour = { deadline: 7_200_000, firstWait: 3_600_000, longestWait: 3_600_000 };
    const timing = { ...realTiming, random: () => 1 };
    const end = retry(attempt, hour, { timing, signal: controller.signal });
    await expect(end).rejects.toMatchObject({ code: "aborted" });
    expect(tries).toBe(1);
  });
});
