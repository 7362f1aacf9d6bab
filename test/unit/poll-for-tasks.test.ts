import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { pollForTasks } from "../../src/kernel/lease/poll-for-tasks.ts";

// What a long poll does at which time, on a simulated clock.
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const nothing = { length: 0, nextDueAt: null };

/** Polls, and returns when it dequeued, in s. Redis's clock is an hour ahead. */
async function polled(
  wait: number,
  { dueAt, delayedTo, some = false }: { dueAt?: number; delayedTo?: number; some?: boolean },
) {
  const pulls: [second: number, last: boolean][] = [];
  const hour = 3_600_000 - performance.now();
  const polling = pollForTasks<{ length: number; nextDueAt: number | null }>(
    { ...nothing, nextDueAt: dueAt === undefined ? null : dueAt + 3_600_000 },
    wait,
    {
      dequeue: async (last) => {
        pulls.push([Math.round((performance.now() + hour - 3_600_000) / 100) / 10, last]);
        return nothing;
      },
      check: async ({ due, time }) => ({
        hasPending: some,
        dueAt: due ? (delayedTo ?? null) && (delayedTo ?? 0) + 3_600_000 : undefined,
        now: time ? performance.now() + hour : undefined,
      }),
    },
    undefined,
  );
  await vi.advanceTimersByTimeAsync(wait + 1);
  await polling;
  return pulls;
}

test("it dequeues every ten seconds if it finds nothing, and at its end", async () => {
  const pulls = await polled(25_000, {});
  expect(pulls.map(([, last]) => last)).toEqual([false, false, true]);
  expect(pulls.map(([second]) => Math.floor(second))).toEqual([10, 20, 25]);
});

test("it dequeues when a task is due by Redis's clock, and then as usual", async () => {
  expect(await polled(9_000, { dueAt: 3_300 })).toEqual([
    [3.3, false],
    [9, true],
  ]);
});

test("it dequeues when a task is due that was delayed since its start", async () => {
  const [first] = await polled(7_000, { delayedTo: 4_700 });
  expect(first).toEqual([4.7, false]);
});

test("it dequeues every two seconds while tasks are held", async () => {
  expect((await polled(6_500, { some: true })).map(([second]) => second)).toEqual([0.1, 2.1, 4.1, 6.1, 6.5]);
});

test("it dequeues ten times if reported tasks are not delivered, and then every two seconds", async () => {
  const pulls: number[] = [];
  const began = performance.now();
  const dequeue = async () => {
    pulls.push(Math.round((performance.now() - began) / 1_000));
    return { length: 0, nextDueAt: performance.now() };
  };
  const check = async () => ({ hasPending: true, now: performance.now() });
  const polling = pollForTasks({ ...nothing, nextDueAt: began }, 6_000, { dequeue, check }, undefined);
  await vi.advanceTimersByTimeAsync(6_001);
  await polling;
  expect(pulls).toEqual([...Array.from({ length: 10 }, () => 0), 2, 4, 6]);
});

test("it dequeues each time a task is due, though others have taken those before", async () => {
  const pulls: number[] = [];
  const began = performance.now();
  const dequeue = async () => {
    pulls.push(Math.round((performance.now() - began) / 100));
    // Four times the task that is due was not delivered.
    return { length: 0, nextDueAt: performance.now() + (pulls.length % 5 === 0 ? 300 : 0) };
  };
  const check = async () => ({ hasPending: false, now: performance.now() });
  const polling = pollForTasks({ ...nothing, nextDueAt: began }, 1_400, { dequeue, check }, undefined);
  await vi.advanceTimersByTimeAsync(1_401);
  await polling;
  expect([...new Set(pulls)]).toEqual([1, 4, 7, 10, 13, 14]);
});

test("a timer that fires a little early costs no extra call", async () => {
  const fired = performance.now.bind(performance);
  const began = fired();
  vi.spyOn(performance, "now").mockImplementation(() => fired() - (fired() > began + 100 ? 0.7 : 0));
  const check = vi.fn(async () => ({ hasPending: false, now: undefined }));
  const polling = pollForTasks(nothing, 150, { dequeue: async () => nothing, check }, undefined);
  await vi.advanceTimersByTimeAsync(160);
  await polling;
  expect(check).toHaveBeenCalledTimes(1);
});

test("tasks due within a quarter of a second are dequeued together", async () => {
  const pulledAt: number[] = [];
  const began = performance.now();
  const dequeue = async () => {
    pulledAt.push(performance.now() - began);
    // Every 40 ms a task is due, which another consumer takes.
    return { length: pulledAt.length > 3 ? 1 : 0, nextDueAt: performance.now() + 40 };
  };
  const check = async () => ({ hasPending: false, now: performance.now() });
  const polling = pollForTasks({ ...nothing, nextDueAt: began + 40 }, 6_000, { dequeue, check }, undefined);
  await vi.advanceTimersByTimeAsync(6_001);
  await polling;
  expect(pulledAt).toEqual([250, 500, 750, 1_000]);
});
