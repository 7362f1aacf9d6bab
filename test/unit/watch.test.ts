import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { TaskEvent, TaskInfo, WatchOptions } from "../../src/index.ts";
import { waitForEnd, watchTask } from "../../src/kernel/tasks/watch.ts";

// The pace of a watch, on a clock that the tests move.

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

function task(version: number, state: TaskInfo["state"] = "working"): TaskInfo {
  return {
    id: "a",
    queue: "emails",
    state,
    attempt: 1,
    charged: 1,
    lease: 1,
    requeues: 0,
    version,
    transitions: [{ version, to: state, at: 1_000 + version }],
    errors: [],
    enqueuedAt: 1_000,
  } as TaskInfo;
}

/** Runs a watch, and returns when it read (ms since its start), its events, and the task that it sees. */
function watched(options: WatchOptions = {}) {
  const begun = performance.now();
  const seen = {
    task: task(2) as TaskInfo | null,
    looks: [] as number[],
    reported: [] as TaskEvent[],
    ended: false,
  };
  const look = async () => {
    seen.looks.push(performance.now() - begun);
    return seen.task;
  };
  void (async () => {
    for await (const event of watchTask(look, options)) seen.reported.push(event);
    seen.ended = true;
  })();
  return seen;
}

test.each<[what: string, options: WatchOptions, looks: readonly number[], ended: boolean]>([
  [
    "after a quarter of a second, then half as often each time, down to once in two seconds",
    {},
    [0, 250, 750, 1_750, 3_750, 5_750, 7_750, 9_750],
    false,
  ],
  ["at the interval of `every`", { every: "3s" }, [0, 3_000, 6_000, 9_000], false],
  ["once more when its time is over", { for: "3s" }, [0, 250, 750, 1_750, 3_000], true],
])("it reads %s", async (_, options, looks, ended) => {
  const seen = watched(options);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([seen.looks, seen.ended]).toEqual([looks, ended]);
});

test("it reads more often again after a change", async () => {
  const seen = watched();
  await vi.advanceTimersByTimeAsync(4_000);
  seen.task = task(3, "pending");
  await vi.advanceTimersByTimeAsync(4_000);
  seen.task = { ...task(3, "pending"), progress: 1 };
  await vi.advanceTimersByTimeAsync(4_000);
  expect(seen.looks.filter((at) => at > 4_000)).toEqual([
    5_750, 6_000, 6_500, 7_500, 9_500, 9_750, 10_250, 11_250,
  ]);
});

test("it leaves no timer after its end", async () => {
  const seen = watched();
  await vi.advanceTimersByTimeAsync(300);
  seen.task = task(3, "completed");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(seen.reported.map(({ event }) => event)).toEqual(["transition", "end"]);
  expect([seen.ended, vi.getTimerCount()]).toEqual([true, 0]);
});

test("it ends as gone if a lower version lasts for ten seconds, which is a new life of the id", async () => {
  const seen = watched({ every: "1s", after: 7 });
  await vi.advanceTimersByTimeAsync(9_500);
  seen.task = task(7);
  await vi.advanceTimersByTimeAsync(1_000);
  seen.task = task(6);
  await vi.advanceTimersByTimeAsync(9_900);
  expect([seen.reported, seen.ended]).toEqual([[], false]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect([seen.reported, seen.ended]).toEqual([[{ event: "gone" }], true]);
});

test("it does not end with an old end that a replica that lags still shows", async () => {
  const seen = watched({ every: "1s" });
  await vi.advanceTimersByTimeAsync(500);
  seen.task = task(1, "completed");
  await vi.advanceTimersByTimeAsync(2_000);
  expect([seen.reported.map(({ event }) => event), seen.ended]).toEqual([["transition"], false]);
  seen.task = task(3, "completed");
  await vi.advanceTimersByTimeAsync(1_000);
  expect([seen.reported.map(({ event }) => event), seen.ended]).toEqual([["transition", "end"], true]);
});

test("a wait returns the highest version that it saw", async () => {
  let latest = task(3);
  const waiting = waitForEnd(async () => latest, { for: "2s", every: "1s" });
  await vi.advanceTimersByTimeAsync(500);
  latest = task(2);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await waiting).toEqual(task(3));
});
