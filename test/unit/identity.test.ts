import { afterEach, describe, expect, test, vi } from "vitest";
import { newTaskId, newToken } from "../../src/kernel/names/ids.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** Stops the client's clock, and notes each draw of random bytes. */
function watchChance(at: number) {
  const clock = vi.spyOn(Date, "now").mockReturnValue(at);
  const drawn = vi.spyOn(crypto, "getRandomValues");
  return { clock, draws: () => drawn.mock.calls.length };
}

describe("tokens", () => {
  test("are 16 letters and digits, all distinct, with each digit equally likely", () => {
    const tokens = Array.from({ length: 20_000 }, newToken);
    expect(tokens.filter((token) => !/^[0-9A-Za-z]{16}$/.test(token))).toEqual([]);
    expect(new Set(tokens).size).toBe(tokens.length);
    const counts = new Map<string, number>();
    for (const digit of tokens.join("")) counts.set(digit, (counts.get(digit) ?? 0) + 1);
    const expected = (tokens.length * 16) / 62;
    expect(counts.size).toBe(62);
    // About six standard deviations.
    for (const count of counts.values()) expect(Math.abs(count / expected - 1)).toBeLessThan(0.085);
  });

  test("of one millisecond share a draw of random bytes; those of the next have another", () => {
    const { clock, draws } = watchChance(1_000);
    for (let i = 0; i < 5; i++) newToken();
    expect(draws()).toBe(1);
    clock.mockReturnValue(1_001);
    newToken();
    expect(draws()).toBe(2);
  });

  test("are all distinct, also many in one millisecond", () => {
    const { draws } = watchChance(2_000);
    const tokens = Array.from({ length: 1_000 }, newToken);
    expect(new Set(tokens).size).toBe(tokens.length);
    // A digit takes a byte at least, and a draw has 256.
    expect(draws()).toBeGreaterThanOrEqual((1_000 * 16) / 256);
  });
});

describe("task ids", () => {
  test("rise, also within a millisecond and if the clock goes back", () => {
    const from = Date.now() + 1_000;
    const times = [from, from, from, from + 1, from - 5, from + 1, from + 2];
    const ids = times.map((ms) => newTaskId(ms));
    expect(ids.filter((id) => !/^[0-9A-Za-z]{20}$/.test(id))).toEqual([]);
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("begin with the time, and continue with random characters in another millisecond", () => {
    const from = Date.now() + 10_000;
    const [first, second, later] = [from, from, from + 1].map((ms) => newTaskId(ms)) as [
      string,
      string,
      string,
    ];
    expect(second.slice(0, 16)).toBe(first.slice(0, 16));
    expect(later.slice(8)).not.toBe(second.slice(8));
  });
});
