import { beforeEach, describe, expect, test, vi } from "vitest";
import { Prospect } from "../../src/consumer/drain/prospect.ts";
import type { Batch } from "../../src/queue/tasks/leased-task.ts";

/** What a drain expects of its queue after a dequeue. */

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance", "Date"] });
  return () => vi.useRealTimers();
});

/** The answer to a dequeue: its number of tasks, and nextDueAt. */
const given = (length: number, nextDueAt: number | null = null) =>
  Object.assign(Array.from({ length }), {
    nextDueAt,
    paused: false,
    invalid: 0,
  }) as unknown as Batch<unknown>;

/** How long the drain waits after a dequeue of ten tasks with this answer, ms. */
function gathers(wait: number, answer: Batch<unknown>, meanwhile: (prospect: Prospect) => void = () => {}) {
  const prospect = new Prospect(wait);
  const learn = prospect.goesOut({ max: 10, wait }, 0);
  vi.advanceTimersByTime(1_000);
  meanwhile(prospect);
  learn(answer, null);
  return Math.max(0, prospect.gathersUntil - performance.now());
}

describe("a drain that waits lets tasks gather", () => {
  test.each([0, 3])("for half a second after a dequeue of %i tasks that left none", (length) => {
    expect(gathers(5_000, given(length))).toBe(500);
    expect(gathers(5_000, given(length, Date.now() + 60_000))).toBe(500);
  });

  test("no longer than its wait", () => {
    expect(gathers(100, given(3))).toBe(100);
    expect(gathers(0, given(3))).toBe(0);
  });

  test("but not after a dequeue that left tasks", () => {
    expect(gathers(5_000, given(10))).toBe(0);
    expect(gathers(5_000, given(3, Date.now()))).toBe(0);
  });

  test("but not after it is woken, during the dequeue or after it", () => {
    expect(gathers(5_000, given(3), (prospect) => prospect.told())).toBe(0);
    const prospect = new Prospect(5_000);
    prospect.goesOut({ max: 10, wait: 5_000 }, 0)(given(3), null);
    expect(prospect.gathersUntil).toBe(performance.now() + 500);
    prospect.told();
    expect(prospect.gathersUntil).toBe(0);
  });
});
