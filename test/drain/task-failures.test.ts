import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { DeadLetter, TaskFailure } from "../../src/index.ts";
import { drain, drainBatches } from "../../src/drain/drain.ts";
import type { DrainOptions, Handler } from "../../src/drain/types.ts";
import { named, numbered } from "../support/new-tasks.ts";
import { START, useRig } from "../support/rig.ts";
import { useSimulatedTime } from "../support/simulated-time.ts";
import { failing, followingSignal, givenUpError, hanging, pause } from "./draining.ts";
import { stoppedError, thrower, unreachable } from "./draining.ts";

// What a drain reports of the tasks that failed, and when. What it reports of each error: drain-failures.test.ts.
const rig = useRig();
useSimulatedTime(rig);

const failures: TaskFailure[] = [];
const letters: DeadLetter[] = [];
beforeEach(() => void [failures, letters].map((list) => list.splice(0)));
afterEach(() => vi.restoreAllMocks());

const onFailure = (failure: TaskFailure) => void failures.push(failure);
const stack = expect.stringMatching(/\n +at /) as string;
const ofX = { name: "Error", message: "x", stack };
const failsWithX = thrower(new Error("x"));
const inAMinute = { dueAt: START + 60_000 };
const failure = (id: string, next: TaskFailure["next"], more: Partial<TaskFailure> = {}) => ({
  queue: "emails",
  id,
  attempt: 1,
  ranFor: 0,
  next,
  ...more,
});

const add = (...ids: string[]) => rig.queue().enqueueMany(named(ids));
const drained = (handler: Handler, options: DrainOptions = {}, transport = rig.transport) =>
  drain(rig.queue({ transport }), handler, { onFailure, backoff: ["1m"], ...options });

describe("a drain reports", () => {
  test("each attempt that failed, with its error, how long it ran, and when the task is tried again", async () => {
    const thrown = {
      retried: new TypeError("fetch failed", { cause: new Error("no route") }),
      text: "the text",
      // Nothing of it is shown.
      value: { to: "secret@example.com" },
      last: new RangeError("too far"),
    };
    await add("retried", "text", "value", "fine");
    await rig.queue().enqueue(1, { id: "last", maxAttempts: 1 });
    await drained(async ({ id }) => {
      await pause(20);
      if (id !== "fine") throw thrown[id as keyof typeof thrown];
    });
    const later = { ranFor: 20, dueAt: START + 60_020 };
    const error = { name: "TypeError", message: "fetch failed", cause: "no route", stack };
    expect(failures).toEqual([
      failure("retried", "retry", { error, ...later }),
      failure("text", "retry", { error: { message: "the text" }, ...later }),
      failure("value", "retry", { error: { message: "a value that is not an Error" }, ...later }),
      failure("last", "dead_letter", {
        error: { name: "RangeError", message: "too far", stack },
        ranFor: 20,
      }),
    ]);
  });

  test("a task that is pending again at once, each time", async () => {
    await rig.queue().enqueue(1, { id: "a", maxAttempts: 3 });
    await drained(failsWithX, { backoff: [0] });
    expect(failures).toEqual([
      failure("a", "retry", { error: ofX }),
      failure("a", "retry", { attempt: 2, error: ofX }),
      failure("a", "dead_letter", { attempt: 3, error: ofX }),
    ]);
  });

  test("the outcomes of a batch handler, except completed tasks", async () => {
    await add("a", "b", "c");
    const outcomes = [
      { outcome: "reject", error: "no" },
      { outcome: "complete" },
      { outcome: "requeue", delay: "1m" },
    ] as const;
    await drainBatches(rig.queue(), () => outcomes, { onFailure });
    expect(failures).toEqual([
      failure("a", "dead_letter", { error: { message: "no" } }),
      failure("c", "retry", inAMinute),
    ]);
  });

  test.each<[string, Handler, DrainOptions, object, number]>([
    ["hangs when its timeout is over", hanging, { timeout: 100 }, givenUpError("timeout"), 600],
    ["hangs when the budget is over", hanging, { budget: "1s" }, givenUpError("budget"), 900],
    ["stops when its timeout is over", followingSignal, { timeout: 100 }, stoppedError("timeout"), 100],
  ])("a handler that %s, once, with how long it ran", async (_, handler, options, error, ranFor) => {
    await add("a");
    await drained(handler, options);
    const dueAt = START + 60_000 + ranFor;
    expect(failures).toEqual([failure("a", "retry", { error: error as never, ranFor, dueAt })]);
  });

  test("a task that lost its lease while it ran, once, whatever its handler does then", async () => {
    await add("a");
    const handler: Handler = async ({ attempt, extend }) => {
      if (attempt === 2) return;
      await rig.operator().failWorker("w");
      await extend();
      throw new Error("too late");
    };
    const report = await drained(handler, { worker: { name: "w" } });
    expect(report).toMatchObject({ lost: 1, completed: 1 });
    expect(failures).toEqual([failure("a", "lost", { error: stoppedError("lease_lost") })]);
  });

  test("a task that had lost its lease when it was settled, with its own error if it failed", async () => {
    await add("a", "b");
    const source = rig.queue();
    const tasks = await source.dequeue({ max: 2 });
    await source.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" })));
    const stale = [Object.assign(tasks, { nextDueAt: null })];
    const again = {
      name: source.name,
      settle: source.settle.bind(source),
      dequeue: async () => stale.pop() ?? source.dequeue(),
      settleAndDequeue: source.settleAndDequeue.bind(source),
    };
    await drain(again, failsWithX, { onFailure });
    expect(failures).toEqual(["a", "b"].map((id) => failure(id, "lost", { error: ofX })));
  });

  test("a failed task whose outcome it could not store as unsettled", async () => {
    await add("a", "b");
    const handler: Handler = ({ id }) => (id === "b" ? failsWithX() : undefined);
    const transport = failing(rig, (request) => (request > 0 ? "before" : undefined));
    await expect(drained(handler, {}, transport)).rejects.toBe(unreachable);
    expect(failures).toEqual([failure("b", "unsettled", { error: ofX })]);
  });

  test("a failed task once if the second try stores it", async () => {
    await add("a");
    const transport = failing(rig, (request) => (request === 1 ? "after" : undefined));
    await expect(drained(failsWithX, {}, transport)).rejects.toBe(unreachable);
    expect(failures).toEqual([failure("a", "retry", { error: ofX, ...inAMinute })]);
  });
});

test("a drain does not report tasks that were cancelled, or handed back unstarted", async () => {
  await rig.queue().enqueueMany(numbered(6));
  const closing = new AbortController();
  const handler: Handler = async ({ id, extend }) => {
    await rig.queue().cancel(id);
    await extend();
    closing.abort();
    throw new Error("stopped");
  };
  const report = await drained(handler, { concurrency: 1, batch: 6, closing: closing.signal });
  expect(report).toMatchObject({ rejected: 1, handedBack: 5 });
  expect(failures).toEqual([]);
});

test("a hook that fails is written to the console, and harms nothing", async () => {
  const logged = vi.spyOn(console, "error").mockReturnValue();
  await add("a", "b");
  const ofHook = new Error("of the hook");
  const failingHook = ({ id }: TaskFailure) => (id === "a" ? thrower(ofHook)() : Promise.reject(ofHook));
  expect(await drained(failsWithX, { onFailure: failingHook })).toMatchObject({ requeued: 2 });
  expect(logged.mock.calls.map(([line]) => JSON.parse(String(line)) as unknown)).toEqual(
    ["a", "b"].map((task) => ({ onFailure: "emails", task, failed: "of the hook" })),
  );
});

describe("the stack of an error that a handler throws", () => {
  function failsHere(): never {
    throw new RangeError("failed", { cause: causedHere() });
  }
  const causedHere = () => new Error("no route");

  const stored = async (handler: Handler, options: DrainOptions = {}) => {
    await rig.queue().enqueue(1, { id: "a", maxAttempts: 1 });
    const queue = rig.queue({ onDeadLetter: (letter) => void letters.push(letter) });
    await drain(queue, handler, { onFailure, ...options });
    return ((await queue.get("a")) as { error?: unknown }).error;
  };

  test("reaches the hooks with that of its cause, and Redis only if the drain is to store it", async () => {
    const kept = { name: "RangeError", message: "failed", cause: "no route" };
    expect(await stored(failsHere)).toEqual(kept);
    const thrown = failures[0]?.error?.stack ?? "";
    expect(thrown).toMatch(
      /^RangeError: failed\n +at failsHere .*\n[^]*\[cause\]: Error: no route\n +at causedHere /,
    );
    expect(letters).toMatchObject([{ id: "a", error: { stack: thrown } }]);
    expect(JSON.stringify(await rig.keySpace())).not.toContain("failsHere");

    await rig.operator().remove("a");
    await rig.operator().deleteQueue();
    expect(await stored(failsHere, { storeStack: true })).toEqual({
      ...kept,
      stack: failures[1]?.error?.stack,
    });
    expect(failures[1]?.error?.stack).toContain("at failsHere");
    expect((await rig.queue().get("a"))?.errors).toMatchObject([{ error: "RangeError: failed" }]);
  });

  test("is cut, so that the error can always be stored", async () => {
    const long = thrower(Object.assign(new Error("€".repeat(5_000)), { stack: "€".repeat(20_000) }));
    const error = (await stored(long, { storeStack: true })) as { stack: string };
    expect(error).toMatchObject({ name: "Error", message: expect.stringMatching(/^€+…$/) });
    expect(Buffer.byteLength(JSON.stringify(error))).toBeLessThanOrEqual(16_384);
    await add("b");
    await drained(long);
    expect(failures.map((one) => one.error?.stack)).toEqual([error.stack, `${"€".repeat(3_999)}…`]);
  });

  const unreadable = Object.defineProperty(new Error("no"), "stack", { get: thrower(new Error("s3cret")) });
  test.each<[what: string, handler: Handler]>([
    ["a text", thrower("no")],
    ["another value", thrower({ stack: "s3cret" })],
    ["a result that cannot be stored", () => () => {}],
    ["undefined", thrower(undefined)],
    ["an error whose stack cannot be read", thrower(unreadable)],
  ])("is absent for %s", async (_, handler) => {
    await stored(handler, { storeStack: true });
    expect(failures).toHaveLength(1);
    expect(failures[0]?.error).not.toHaveProperty("stack");
    expect(letters[0]?.error).not.toHaveProperty("stack");
  });
});
