import { beforeEach, describe, expect, test, vi } from "vitest";
import { RemainingTasks } from "../../src/drain/remaining-tasks.ts";
import type { Batch } from "../../src/kernel/lease/leased-task.ts";

/** What a drain expects of its queue after a pull. */

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance", "Date"] });
  return () => vi.useRealTimers();
});

/** The answer to a pull: so many tasks, and when to come again. */
const reply = (length: number, nextDueAt: number | null = null) =>
  Object.assign(Array.from({ length }), {
    nextDueAt,
    paused: false,
    invalid: 0,
  }) as unknown as Batch<unknown>;

/** For how long no pull goes out after one for ten tasks that was answered like this, ms. */
function gathers(
  wait: number,
  answer: Batch<unknown>,
  { connected = false, meanwhile = (_: RemainingTasks) => {} } = {},
) {
  const remaining = new RemainingTasks(wait, connected);
  const onReply = remaining.dequeueSent({ max: 10, wait }, 0);
  vi.advanceTimersByTime(1_000);
  meanwhile(remaining);
  onReply(answer, null);
  return Math.max(0, remaining.gatherUntil - performance.now());
}

describe("a drain that waits lets tasks gather", () => {
  const later = () => Date.now() + 60_000;
  test.each<[what: string, wait: number, length: number, nextDueAt: () => number | null, gathers: number]>([
    ["a second after a pull of none", 5_000, 0, () => null, 1_000],
    ["a second after a pull that left nothing", 5_000, 3, () => null, 1_000],
    ["a second if the next is due in a minute", 5_000, 3, later, 1_000],
    ["no longer than it waits", 100, 3, () => null, 100],
    ["not at all without a wait", 0, 3, () => null, 0],
    ["but not after a full pull", 5_000, 10, () => null, 0],
    ["but not after a pull that left a due task", 5_000, 3, () => Date.now(), 0],
  ])("%s", (_, wait, length, nextDueAt, expected) => {
    expect(gathers(wait, reply(length, nextDueAt()))).toBe(expected);
  });

  test("but not over TCP", () => {
    expect(gathers(5_000, reply(3), { connected: true })).toBe(0);
  });

  test("but not once a look is requested, during the pull or after it", () => {
    expect(gathers(5_000, reply(3), { meanwhile: (remaining) => remaining.notify() })).toBe(0);
    const remaining = new RemainingTasks(5_000, false);
    remaining.dequeueSent({ max: 10, wait: 5_000 }, 0)(reply(3), null);
    expect(remaining.gatherUntil).toBe(performance.now() + 1_000);
    remaining.notify();
    expect(remaining.gatherUntil).toBe(0);
  });
});

test.each([
  ["a second", false, 1_000],
  ["a tenth of a second over TCP", true, 100],
])(
  "while handlers run, a drain that does not wait pulls again %s after a pull that left nothing",
  (_, connected, ms) => {
    const remaining = new RemainingTasks(0, connected);
    const sentAt = performance.now();
    remaining.dequeueSent({ max: 10 }, 0)(reply(3), null);
    expect(remaining.dequeueAgainAt - sentAt).toBe(ms);
  },
);
