import { afterEach, describe, expect, test, vi } from "vitest";
import type { Duration, EnqueueOptions } from "../../src/index.ts";
import { drain } from "../../src/drain/drain.ts";
import { type DrainOptions, type Handler, type TaskFailure } from "../../src/drain/types.ts";
import { NonRetryableError, RetryAfter } from "../../src/drain/failures.ts";
import { START, useRig } from "../support/rig.ts";
import { many, named } from "../support/new-tasks.ts";
import { pause, reported, thrower } from "./draining.ts";

const rig = useRig();
afterEach(() => {
  vi.restoreAllMocks();
});

const noDuration =
  'backoff must be a duration of 0 to 315360000000 ms: a whole number of milliseconds, or a text such as "250ms", "30s", "5m", "1.5h", "7d"';

const noPromise = "backoff must return a duration, not a promise";

/** Drains a queue of one task, `a`: the report, the task after it, and what the hook got. */
async function afterDrain(
  handler: Handler,
  { task = {}, ...options }: DrainOptions & { task?: EnqueueOptions } = {},
) {
  const queue = rig.queue();
  const failures: TaskFailure[] = [];
  await queue.enqueue("work", { id: "a", ...task });
  const report = await drain(queue, handler, { onFailure: (one) => failures.push(one), ...options });
  return { report, task: await queue.get("a"), failures };
}

const anyText = expect.any(String) as string;

const hostile = new Proxy(
  {},
  {
    get: () => expect.unreachable("do not look"),
    getPrototypeOf: () => expect.unreachable("do not look"),
  },
);

class Copied extends Error {
  override name: string;
  readonly delay = 5_000;
  constructor(name: string) {
    super("of another bundle");
    this.name = name;
  }
}

describe("a handler that fails", () => {
  test("waits five to ten seconds after its first attempt by default; makes its task a dead letter on the last", async () => {
    const { task } = await afterDrain(thrower(new Error("x")));
    expect(task).toMatchObject({ state: "delayed", attempt: 1, charged: 1, error: { message: "x" } });
    expectDefaultBackoff(task);
    rig.now += 10_000;
    await (await rig.queue().dequeue())[0]?.complete();
    const last = await afterDrain(thrower(new Error("x")), { task: { again: true, maxAttempts: 1 } });
    expect(last.report).toEqual(reported({ rejected: 1 }));
    const rejected = { state: "rejected", reason: "attempts_exhausted", error: { message: "x" } };
    expect(last.task).toMatchObject(rejected);
  });

  test.each<[string, unknown, unknown]>([
    ["an error", new TypeError("no such field"), { name: "TypeError", message: "no such field" }],
    ["null", null, null],
    ["a text", "just a text", "just a text"],
    ["undefined", undefined, { name: "Error", message: "the handler threw undefined" }],
    ["a number", 42, 42],
    ["an object", { code: 7 }, { code: 7 }],
    ["bytes", new Uint8Array([1, 2]), new Uint8Array([1, 2])],
    ["a bigint", 7n, unstorable()],
    ["a symbol", Symbol("s"), unstorable()],
    ["a huge object", { text: "x".repeat(100_000) }, unstorable(/error has \d+ bytes; at most 16384/)],
    ["a huge error", new Error("x".repeat(100_000)), anyError("Error", expect.stringMatching(/^x{3999}…$/))],
    ["an error full of characters to escape", new Error("\u0001".repeat(5_000)), anyError("Error", anyText)],
    ["an object that cannot be read", hostile, unstorable(/it cannot be read/)],
  ])("may reject with %s", async (_, thrown, error) => {
    const { report, task } = await afterDrain(() => Promise.reject(thrown), { backoff: ["1s"] });
    expect(report).toEqual(reported({ requeued: 1, nextDueAt: START + 1_000 }));
    expect(task).toMatchObject({ state: "delayed", attempt: 1 });
    expect(task?.error).toEqual(error);
  });

  test("is tried again even if Redis, which had lost the scripts, settled after the pull of the same request", async () => {
    // On Redis's own clock, so that no other task is reported as due and looked for.
    const queue = rig.queue({ now: undefined });
    await queue.enqueue("work", { id: "a" });
    await rig.command("SCRIPT", "FLUSH");
    const handler: Handler = ({ attempt }) => {
      if (attempt === 1) throw new Error("not yet");
    };
    const report = await drain(queue, handler, { backoff: [0] });
    expect(report).toEqual(reported({ completed: 1, requeued: 1 }));
  });

  test.each<[string, () => unknown, string]>([
    ["throws", thrower(new RangeError("of the backoff")), "backoff threw RangeError: of the backoff"],
    ["returns a promise", async () => 1_000, noPromise],
    ["returns a promise that rejects", () => Promise.reject(new Error("x")), noPromise],
    ["returns NaN", () => Number.NaN, `${noDuration}; NaN is not`],
    ["returns a negative number", () => -1, `${noDuration}; -1 is not`],
    ["returns a text", () => "soon", `${noDuration}; "soon" is not`],
    ["returns nothing", () => undefined, noDuration],
  ])("has the default backoff, and says so, if its own %s", async (_, backoff, fault) => {
    const { report, task, failures } = await afterDrain(thrower(new TypeError("of the work")), {
      backoff: backoff as () => Duration,
    });
    const message = `${fault}; the default backoff applies`;
    const error = { name: "Error", message, cause: "TypeError: of the work" };
    expect(report).toEqual(reported({ requeued: 1, nextDueAt: task?.dueAt ?? Number.NaN }));
    expect(task?.error).toEqual(error);
    expectDefaultBackoff(task);
    expect(failures.map(({ error: given, next }) => [given, next])).toEqual([
      [{ ...error, stack: expect.stringMatching(/^TypeError: of the work\n +at /) as string }, "retry"],
    ]);
  });

  test("waits by its charged attempts, not by its deliveries", async () => {
    const queue = rig.queue();
    await queue.enqueue("work", { id: "a" });
    for (let turn = 0; turn < 3; turn++) await (await queue.dequeue())[0]?.requeue({ unstarted: true });
    let slices = 0;
    const inSlices: Handler = () => {
      if (slices++ < 12) throw new RetryAfter(0, { count: false });
      throw new Error("ECONNRESET");
    };
    for (const wait of [1_000, 60_000]) {
      await drain(queue, inSlices, { backoff: ["1s", "1m", "1h"] });
      expect(await queue.get("a")).toMatchObject({ dueAt: rig.now + wait });
      rig.now += wait;
    }
    expect(await queue.get("a")).toMatchObject({ charged: 2, attempt: 17 });
  });
});

describe("errors that decide what happens to the task", () => {
  const stack = expect.stringMatching(/\n +at /) as string;
  const failure = { queue: "emails", id: "a", attempt: 1, ranFor: expect.any(Number) as number };

  test.each([
    ["NonRetryableError", new NonRetryableError("no such customer")],
    ["an error of that name", new Copied("NonRetryableError")],
    ["a kind of it", new (class Mine extends NonRetryableError {})("mine")],
  ])("%s makes it a dead letter at once", async (_, thrown) => {
    const { report, task, failures } = await afterDrain(thrower(thrown));
    expect(report).toEqual(reported({ rejected: 1 }));
    const error = { name: "NonRetryableError", message: thrown.message };
    expect(task).toMatchObject({ state: "rejected", reason: "rejected", attempt: 1, error });
    expect(failures).toEqual([{ ...failure, next: "dead_letter", error: { ...error, stack } }]);
  });

  test.each<[string, Error, number, object, number]>([
    ["RetryAfter", new RetryAfter("90s"), 90_000, { name: "RetryAfter" }, 1],
    ["one with a cause", new RetryAfter(500, { cause: new Error("busy") }), 500, { message: "busy" }, 1],
    ["one that does not count", new RetryAfter("2m", { count: false }), 120_000, { name: "RetryAfter" }, 0],
    ["an error of that name", new Copied("RetryAfter"), 5_000, { message: "of another bundle" }, 1],
  ])("%s requeues it with that delay", async (_, thrown, delay, error, charged) => {
    const dueAt = START + delay;
    const { report, task, failures } = await afterDrain(thrower(thrown), { backoff: ["1h"] });
    expect(report).toEqual(reported({ requeued: 1, nextDueAt: dueAt }));
    expect(task).toMatchObject({ state: "delayed", dueAt, charged, error });
    expect(failures).toMatchObject([{ ...failure, next: "retry", error: { ...error, stack }, dueAt }]);
  });

  test.each([
    [() => new RetryAfter("soon" as Duration), "delay must be a duration"],
    [() => new RetryAfter(1, { counts: false } as object), "counts is an unknown option"],
    [() => new RetryAfter(1, { count: "no" as unknown as boolean }), "count must be true or false"],
  ])("RetryAfter refuses invalid arguments", (make, problem) => {
    expect(make).toThrow(problem);
  });
});

describe("a result that cannot be stored", () => {
  const cycle: unknown[] = [];
  cycle.push(cycle);
  test.each<[string, unknown, RegExp]>([
    ["a bigint", 7n, /result is a bigint, which JSON cannot express/],
    ["a function", () => 1, /result is a function; it must be a Uint8Array or something that JSON can/],
    ["a cycle", cycle, /result\[0\] contains itself/],
    ["too large", "x".repeat(1_048_577), /result has 1048579 bytes; at most 1048576 are allowed/],
  ])(
    "(%s) makes the task a dead letter that says so, because its work is done",
    async (_, result, problem) => {
      const { report, task, failures } = await afterDrain(() => result);
      expect(report).toEqual(reported({ rejected: 1 }));
      const message = new RegExp(`^the work is done, but its result cannot be stored: ${problem.source}`);
      const error = anyError("Error", expect.stringMatching(message) as string);
      expect(task).toMatchObject({ state: "rejected", reason: "rejected", attempt: 1, error });
      expect(failures).toMatchObject([{ next: "dead_letter", error }]);
    },
  );

  test.each<[string, unknown, unknown]>([
    ["nothing", undefined, undefined],
    ["null", null, null],
    ["an empty text", "", ""],
    ["bytes", new Uint8Array([0, 255]), new Uint8Array([0, 255])],
    ["a date", new Date(0), "1970-01-01T00:00:00.000Z"],
  ])("is none of these: %s", async (_, result, kept) => {
    const { report, task } = await afterDrain(() => result);
    expect([report, task?.state, task?.result]).toEqual([reported({ completed: 1 }), "completed", kept]);
  });

  test("many large ones need several requests", async () => {
    const queue = rig.queue<number>();
    await queue.enqueueMany(many(12));
    const report = await drain(queue, () => "x".repeat(1_000_000), { batch: 12 });
    expect(report).toEqual(reported({ completed: 12 }));
  });
});

test("results and errors are stored as they were when the handler ended", async () => {
  const queue = rig.queue<string>();
  await queue.enqueueMany(named(["result", "error", "spoiler"]));
  const result: Record<string, unknown> = { n: 0 };
  const error = new Error("first");
  const handler: Handler = async ({ id }) => {
    if (id === "result") return result;
    if (id === "error") throw error;
    await pause(20);
    // By now JSON cannot express it.
    result["n"] = 7n;
    return Object.assign(error, { message: 7n }).name;
  };
  const report = await drain(queue, handler, { backoff: ["1s"] });
  expect(report).toEqual(reported({ completed: 2, requeued: 1, nextDueAt: START + 1_000 }));
  expect(await queue.get("result")).toMatchObject({ state: "completed", result: { n: 0 } });
  expect(await queue.get("error")).toMatchObject({ state: "delayed", error: { message: "first" } });
});

function expectDefaultBackoff(task: Awaited<ReturnType<typeof afterDrain>>["task"]): void {
  expect(task?.dueAt).toBeGreaterThanOrEqual(START + 5_000);
  expect(task?.dueAt).toBeLessThanOrEqual(START + 10_000);
}

function anyError(name: string, message: string): object {
  return { name, message };
}

function unstorable(why = /error(?:\.name)? (?:must be|is a (?:bigint|symbol))/): object {
  return anyError(
    "Error",
    expect.stringMatching(/^what the handler threw cannot be stored: /) && expect.stringMatching(why),
  );
}
