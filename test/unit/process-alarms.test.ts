import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ProcessAlarms } from "../../src/deploy/process/process-alarms.ts";

/** When alarms rang, ms after the start, and for what. */
let rung: [number, string][];
let alarms: ProcessAlarms;

beforeEach(() => {
  vi.useFakeTimers();
  rung = [];
  const start = performance.now();
  alarms = new ProcessAlarms({
    horizon: 120_000,
    ring: (kind, queue) => rung.push([performance.now() - start, `${kind} ${queue}`]),
  });
});
afterEach(() => {
  alarms.close();
  vi.useRealTimers();
});

describe("an alarm of a process", () => {
  test("rings once, when its time is over", () => {
    alarms.set("wake", "a", 1_000);
    vi.advanceTimersByTime(999);
    expect([rung, alarms.next]).toEqual([[], 1]);
    vi.advanceTimersByTime(300_000);
    expect([rung, alarms.next]).toEqual([[[1_000, "wake a"]], undefined]);
  });

  test("is the earliest of those that were set for a queue, in any order", () => {
    alarms.set("wake", "a", 3_000);
    alarms.set("wake", "a", 1_000);
    alarms.set("wake", "a", 2_000);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(300_000);
    expect(rung).toEqual([[1_000, "wake a"]]);
  });

  test("is one of each kind and queue", () => {
    alarms.set("wake", "a", 3_000);
    alarms.set("sweep", "a", 1_000);
    alarms.set("wake", "b", 2_000);
    expect(alarms.next).toBe(1_000);
    vi.advanceTimersByTime(300_000);
    expect(rung).toEqual([
      [1_000, "sweep a"],
      [2_000, "wake b"],
      [3_000, "wake a"],
    ]);
  });

  test("can be set again when it rings", () => {
    alarms.set("wake", "a", 1_000);
    vi.advanceTimersByTime(1_000);
    alarms.set("wake", "a", 5_000);
    vi.advanceTimersByTime(300_000);
    expect(rung).toEqual([
      [1_000, "wake a"],
      [6_000, "wake a"],
    ]);
  });

  test("rings at most four times a second, also if it is always set for a time that is over", () => {
    const start = performance.now();
    let rings = 0;
    const again = new ProcessAlarms({
      horizon: 120_000,
      ring: (kind, queue) => {
        rings++;
        again.set(kind, queue, -30_000);
      },
    });
    again.set("wake", "a", Number.NEGATIVE_INFINITY);
    vi.advanceTimersByTime(10_000);
    expect([rings, performance.now() - start]).toEqual([40, 10_000]);
    again.close();
  });

  test("is not set for what a sweep finds before, for a time that is none, or for one too many queues", () => {
    alarms.set("wake", "a", 120_001);
    alarms.set("sweep", "a", Number.POSITIVE_INFINITY);
    alarms.set("sweep", "b", Number.NaN);
    expect(vi.getTimerCount()).toBe(0);
    for (let i = 0; i < 5_010; i++) alarms.set("wake", `queue-${i}`, 2_000);
    expect(vi.getTimerCount()).toBe(5_000);
    // An alarm that is set already can become earlier.
    alarms.set("wake", "queue-0", 1_000);
    vi.advanceTimersByTime(1_500);
    expect(rung).toEqual([[1_000, "wake queue-0"]]);
    alarms.set("wake", "late", 1_000);
    vi.advanceTimersByTime(300_000);
    expect(rung).toHaveLength(5_001);
  });

  test("neither rings nor is set once they are closed", () => {
    alarms.set("wake", "a", 1_000);
    alarms.close();
    alarms.set("wake", "a", 1_000);
    expect([vi.getTimerCount(), alarms.next]).toEqual([0, undefined]);
    vi.advanceTimersByTime(300_000);
    expect(rung).toEqual([]);
  });
});
