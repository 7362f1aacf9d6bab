import { beforeEach, describe, expect, test, vi } from "vitest";
import { type DeadLetter, SluiceError, type TaskFailure, type Transport } from "../../src/index.ts";
import { drain, drainBatches } from "../../src/consumer/drain/drain.ts";
import { NonRetryableError, RetryAfter } from "../../src/consumer/drain/failures.ts";
import type { DrainOptions, Handler } from "../../src/consumer/drain/types.ts";
import { named, numbered } from "../support/new-tasks.ts";
import { START, useRig } from "../support/rig.ts";
import { followingSignal, givenUpError, hanging, pause, stoppedError } from "./draining.ts";

// What a drain reports of the tasks that failed.
const rig = useRig();

let failures: TaskFailure[];
beforeEach(() => {
  failures = [];
});

const onFailure = (failure: TaskFailure) => void failures.push(failure);
const stack = expect.stringMatching(/\n +at /) as string;
const failure = (id: string, next: TaskFailure["next"], more: Partial<TaskFailure> = {}) => ({
  queue: "emails",
  id,
  attempt: 1,
  ranFor: expect.any(Number) as number,
  next,
  ...more,
});

const drained = (handler: Handler, options: DrainOptions = {}) =>
  drain(rig.queue(), handler, { onFailure, backoff: ["1m"], ...options });

const thrower =
  (thrown: unknown): Handler =>
  () => {
    throw thrown;
  };

describe("a drain reports", () => {
  test("each attempt that failed, with its error, and when the task is tried again", async () => {
    await rig
      .queue()
      .enqueueMany([...named(["retried", "fine"]), { payload: 1, id: "last", maxAttempts: 1 }]);
    const cause = new Error("no route");
    await drained(async ({ id }) => {
      await pause(20);
      if (id !== "fine") throw new TypeError("fetch failed", { cause });
    });
    const error = { name: "TypeError", message: "fetch failed", cause: "no route", stack };
    expect(failures.toSorted((a, b) => (a.id < b.id ? 1 : -1))).toEqual([
      failure("retried", "retry", { error, dueAt: START + 60_000 }),
      failure("last", "dead_letter", { error }),
    ]);
    for (const { ranFor } of failures) expect(ranFor).toBeGreaterThanOrEqual(15);
  });

  test.each<[what: string, thrown: unknown, expected: Partial<TaskFailure>]>([
    [
      "a NonRetryableError",
      new NonRetryableError("no such customer"),
      { next: "dead_letter", error: { name: "NonRetryableError", message: "no such customer", stack } },
    ],
    [
      "a RetryAfter",
      new RetryAfter("30s", { cause: new Error("closed"), count: false }),
      { next: "retry", error: { name: "Error", message: "closed", stack }, dueAt: START + 30_000 },
    ],
    ["a text", "the text", { next: "retry", error: { message: "the text" }, dueAt: START + 60_000 }],
    [
      "another value, of which it shows nothing",
      { to: "secret@example.com" },
      { next: "retry", error: { message: "a value that is not an Error" }, dueAt: START + 60_000 },
    ],
  ])("%s", async (_, thrown, expected) => {
    await rig.queue().enqueueMany(named(["a"]));
    await drained(thrower(thrown));
    expect(failures).toEqual([failure("a", "retry", expected)]);
  });

  test("a task that is pending again at once, each time", async () => {
    await rig.queue().enqueue(1, { id: "a", maxAttempts: 3 });
    await drained(thrower(new Error("x")), { backoff: [0] });
    const error = { name: "Error", message: "x", stack };
    expect(failures).toEqual([
      failure("a", "retry", { error }),
      failure("a", "retry", { attempt: 2, error }),
      failure("a", "dead_letter", { attempt: 3, error }),
    ]);
  });

  test("a result that cannot be stored", async () => {
    await rig.queue().enqueueMany(named(["a"]));
    await drained(() => () => {});
    const message = expect.stringMatching(/^the work is done, but its result cannot be stored: /) as string;
    expect(failures).toEqual([failure("a", "dead_letter", { error: { name: "Error", message } })]);
  });

  test("the outcomes of a batch handler, except completed tasks", async () => {
    await rig.queue().enqueueMany(named(["a", "b", "c"]));
    await drainBatches(
      rig.queue(),
      () => [
        { outcome: "reject", error: "no" },
        { outcome: "complete" },
        { outcome: "requeue", delay: "1h" },
      ],
      { onFailure },
    );
    expect(failures).toEqual([
      failure("a", "dead_letter", { error: { message: "no" } }),
      failure("c", "retry", { dueAt: START + 3_600_000 }),
    ]);
  });

  test.each(["timeout", "budget"] as const)(
    "a handler that hangs when its %s is over, once, with how long it ran",
    async (which) => {
      await rig.queue().enqueueMany(named(["a"]));
      await drained(hanging, which === "timeout" ? { timeout: 100 } : { budget: 1_000 });
      expect(failures).toEqual([
        failure("a", "retry", { error: givenUpError(which), dueAt: START + 60_000 }),
      ]);
      expect(failures[0]?.ranFor).toBeGreaterThanOrEqual(100);
    },
  );

  test("a handler that stops when its timeout is over", async () => {
    await rig.queue().enqueueMany(named(["a"]));
    await drained(followingSignal, { timeout: 100 });
    expect(failures).toEqual([
      failure("a", "retry", { error: stoppedError("timeout"), dueAt: START + 60_000 }),
    ]);
  });

  test("a task that lost its lease while it ran, once, whatever its handler does then", async () => {
    await rig.queue().enqueueMany(named(["a"]));
    const report = await drained(
      async ({ attempt, extend }) => {
        if (attempt === 2) return;
        await rig.operator().failWorker("w");
        await extend();
        throw new Error("too late");
      },
      { worker: { name: "w" } },
    );
    expect(report).toMatchObject({ lost: 1, completed: 1 });
    expect(failures).toEqual([failure("a", "lost", { error: stoppedError("lease_lost") })]);
  });

  test("a task that had lost its lease when it was settled, with its own error if it failed", async () => {
    await rig.queue().enqueueMany(named(["a", "b"]));
    const tasks = await rig.queue().dequeue({ max: 2 });
    await rig.queue().settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" })));
    const [source, stale] = [rig.queue(), Object.assign(tasks, { nextDueAt: null })];
    let dequeues = 0;
    const again = {
      name: source.name,
      settle: source.settle.bind(source),
      dequeue: async () => (dequeues++ === 0 ? stale : source.dequeue()),
      settleAndDequeue: source.settleAndDequeue.bind(source),
    };
    await drain(again, thrower(new Error("failed")), { onFailure });
    const error = { name: "Error", message: "failed", stack };
    expect(failures).toEqual([failure("a", "lost", { error }), failure("b", "lost", { error })]);
  });
});

describe("a drain does not report", () => {
  test("tasks that were cancelled, or handed back unstarted", async () => {
    await rig.queue().enqueueMany(numbered(6));
    const ending = new AbortController();
    const report = await drained(
      async ({ id, extend }) => {
        await rig.queue().cancel(id);
        await extend();
        ending.abort();
        throw new Error("stopped");
      },
      { concurrency: 1, batch: 6, closing: ending.signal },
    );
    expect(report).toMatchObject({ rejected: 1, handedBack: 5 });
    expect(failures).toEqual([]);
  });
});

describe("if Redis does not answer", () => {
  test("a drain reports a failed task whose outcome it could not store as unsettled", async () => {
    await rig.queue().enqueueMany(named(["a", "b"]));
    const unreachable = new SluiceError("redis_unreachable", "no answer");
    let requests = 0;
    const transport: Transport = {
      async send(commands, options) {
        if (requests++ > 0) throw unreachable;
        return rig.transport.send(commands, options);
      },
    };
    const handler: Handler = ({ id }) => {
      if (id === "b") throw new Error("failed");
    };
    await expect(drain(rig.queue({ transport }), handler, { onFailure })).rejects.toBe(unreachable);
    expect(failures).toEqual([
      failure("b", "unsettled", { error: { name: "Error", message: "failed", stack } }),
    ]);
  });

  test("a drain reports it once if the second try stores it", async () => {
    await rig.queue().enqueueMany(named(["a"]));
    const unreachable = new SluiceError("redis_unreachable", "no answer");
    let requests = 0;
    const transport: Transport = {
      async send(commands, options) {
        const outcomes = await rig.transport.send(commands, options);
        if (requests++ === 1) throw unreachable;
        return outcomes;
      },
    };
    const draining = drain(rig.queue({ transport }), thrower(new Error("x")), { onFailure, backoff: ["1m"] });
    await expect(draining).rejects.toBe(unreachable);
    const error = { name: "Error", message: "x", stack };
    expect(failures).toEqual([failure("a", "retry", { error, dueAt: START + 60_000 })]);
  });
});

test("a hook that fails is written to the console, and harms nothing", async () => {
  const lines: unknown[] = [];
  vi.spyOn(console, "error").mockImplementation((line) => lines.push(JSON.parse(String(line))));
  await rig.queue().enqueueMany(named(["a", "b"]));
  const report = await drained(thrower(new Error("x")), {
    onFailure: ({ id }) => {
      if (id === "a") throw new Error("of the hook");
      return Promise.reject(new Error("of the hook"));
    },
  });
  vi.restoreAllMocks();
  expect(report).toMatchObject({ requeued: 2 });
  expect(lines).toEqual(["a", "b"].map((task) => ({ onFailure: "emails", task, failed: "of the hook" })));
});

test("a hook must be a function", async () => {
  await expect(drained(() => {}, { onFailure: 1 as never })).rejects.toThrow("onFailure must be a function");
});

describe("the stack of an error that a handler throws", () => {
  function failsHere(): never {
    throw new RangeError("failed", { cause: causedHere() });
  }
  const causedHere = () => new Error("no route");

  const letters: DeadLetter[] = [];
  beforeEach(() => void letters.splice(0));
  const failing = async (handler: Handler, options: DrainOptions = {}) => {
    await rig.queue().enqueue(1, { id: "a", maxAttempts: 1 });
    const queue = rig.queue({ onDeadLetter: (letter) => void letters.push(letter) });
    await drain(queue, handler, { onFailure, ...options });
    const { error } = (await queue.get("a")) as { error?: unknown };
    return error;
  };

  test("reaches the hooks with that of its cause, and not Redis", async () => {
    const stored = await failing(failsHere);
    expect(stored).toEqual({ name: "RangeError", message: "failed", cause: "no route" });
    const thrown = failures[0]?.error?.stack ?? "";
    expect(thrown).toMatch(
      /^RangeError: failed\n +at failsHere .*\n[^]*\[cause\]: Error: no route\n +at causedHere /,
    );
    expect(letters).toMatchObject([{ id: "a", error: { stack: thrown } }]);
    expect(JSON.stringify(await rig.keySpace())).not.toContain("failsHere");
  });

  test("is stored if the drain is to", async () => {
    const stored = await failing(failsHere, { storeStack: true });
    const { stack: thrown = "" } = failures[0]?.error ?? {};
    expect(thrown).toContain("at failsHere");
    expect(stored).toEqual({ name: "RangeError", message: "failed", cause: "no route", stack: thrown });
    expect((await rig.queue().get("a"))?.errors).toMatchObject([{ error: "RangeError: failed" }]);
  });

  test("is cut, so that the error can always be stored", async () => {
    const long = Object.assign(new Error("€".repeat(5_000)), { stack: "€".repeat(20_000) });
    const stored = await failing(thrower(long), { storeStack: true });
    expect(stored).toMatchObject({ name: "Error", message: expect.stringMatching(/^€+…$/) });
    expect(Buffer.byteLength(JSON.stringify(stored))).toBeLessThanOrEqual(16_384);
    expect(failures[0]?.error?.stack).toBe((stored as { stack: string }).stack);
    failures = [];
    await rig.queue().enqueue(1, { id: "b" });
    await drained(thrower(long));
    expect(failures[0]?.error?.stack).toBe(`${"€".repeat(3_999)}…`);
  });

  test.each<[what: string, handler: Handler]>([
    ["a text", thrower("no")],
    ["another value", thrower({ stack: "s3cret" })],
    ["a result that cannot be stored", () => () => {}],
    ["undefined", thrower(undefined)],
    [
      "an error whose stack cannot be read",
      () => {
        const error = new Error("no");
        Object.defineProperty(error, "stack", {
          get: () => {
            throw new Error("s3cret");
          },
        });
        throw error;
      },
    ],
  ])("is absent for %s", async (_, handler) => {
    await failing(handler, { storeStack: true });
    expect(failures).toHaveLength(1);
    expect(failures[0]?.error).not.toHaveProperty("stack");
    expect(letters[0]?.error).not.toHaveProperty("stack");
  });

  test("is asked for by true or false", async () => {
    await expect(drained(() => {}, { storeStack: "yes" as never })).rejects.toThrow(
      "storeStack must be true or false",
    );
  });
});
