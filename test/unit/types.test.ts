import { describe, expect, expectTypeOf, test } from "vitest";
import type { Duration, ListedTask, RejectReason, TaskInfo, TaskState } from "../../src/index.ts";
import { milliseconds } from "../../src/kernel/options/duration.ts";

describe("a duration", () => {
  const minutes = 5 as number;
  const unit = "m" as "m" | "s";
  test.each<[Duration, number]>([
    [300_000, 300_000],
    ["300000ms", 300_000],
    ["300s", 300_000],
    ["5m", 300_000],
    ["2h", 7_200_000],
    ["7d", 604_800_000],
    ["0ms", 0],
    ["86400s", 86_400_000],
    ["315360000000ms", 315_360_000_000],
    ["1.5h", 5_400_000],
    ["0.001s", 1],
    ["2.675s", 2_675],
    ["0.0s", 0],
    ["1.500d", 129_600_000],
    [`${minutes}m`, 300_000],
    [`5${unit}`, 300_000],
    [`${minutes / 2}m`, 150_000],
  ])("is a number of milliseconds, or a number with a unit: %s", (duration, ms) => {
    expect(milliseconds(duration, "delay")).toBe(ms);
  });

  const wrong: Duration[] = [
    // @ts-expect-error no number
    "five minutes",
    // @ts-expect-error no unit
    "30",
    // @ts-expect-error an unknown unit
    "2w",
    // @ts-expect-error any string
    "soon" as string,
    // @ts-expect-error no digits
    "m",
    // TypeScript takes these for a number and a unit: only the check at run time refuses them.
    "5 m",
    "1e3s",
    "+5m",
    "-5m",
    "0x10m",
    ".5h",
    "1.h",
    "1.5ms",
    "1.0005s",
    `${1 / 3}h`,
  ];
  test.each(wrong)("%j is refused", (duration) => {
    expect(() => milliseconds(duration, "delay")).toThrow(
      expect.objectContaining({ code: "invalid_argument", path: "delay" }),
    );
  });
});

describe("the error of an invalid duration", () => {
  const rule =
    'delay must be a duration of 1 to 5000 ms: a whole number of milliseconds, or a text such as "250ms", "30s", "5m", "1.5h", "7d"';
  test.each<[unknown, string]>([
    ["1,5h", '; "1,5h" is not'],
    ["6s", '; "6s" is not'],
    [0, "; 0 is not"],
    [1.5, "; 1.5 is not"],
    [Number.NaN, "; NaN is not"],
    ["", '; "" is not'],
    // What is longer may be a secret at the wrong place.
    ["secret-secret", ""],
    [{ seconds: 5 }, ""],
    [null, ""],
  ])("of %j says what is allowed, and shows what was given if it is short", (given, end) => {
    expect(() => milliseconds(given as Duration, "delay", { min: 1, max: 5_000 })).toThrow(
      expect.objectContaining({ message: rule + end }),
    );
  });
});

describe("a task, narrowed by its state,", () => {
  type In<State extends TaskState> = Extract<TaskInfo, { state: State }>;
  type NotIn<State extends TaskState> = Exclude<TaskInfo, { state: State }>;

  test("is one type for each state", () => {
    expectTypeOf<TaskInfo["state"]>().toEqualTypeOf<TaskState>();
    const dueAt = (task: TaskInfo) => (task.state === "delayed" ? task.dueAt : null);
    expectTypeOf(dueAt).returns.toEqualTypeOf<number | null>();
    const listed = (task: ListedTask) => (task.state === "delayed" ? task.dueAt : null);
    expectTypeOf(listed).returns.toEqualTypeOf<number | null>();
  });

  test("has dueAt only if delayed, deadlineAt only if working", () => {
    expectTypeOf<In<"delayed">["dueAt"]>().toEqualTypeOf<number>();
    expectTypeOf<NotIn<"delayed">["dueAt"]>().toEqualTypeOf<undefined>();
    expectTypeOf<In<"working">["deadlineAt"]>().toEqualTypeOf<number>();
    expectTypeOf<In<"working">["dequeuedAt"]>().toEqualTypeOf<number>();
    expectTypeOf<NotIn<"working">["deadlineAt"]>().toEqualTypeOf<undefined>();
    expectTypeOf<NotIn<"working">["cancelRequested"]>().toEqualTypeOf<undefined>();
  });

  test("has a reason only if rejected, and endedAt if it has ended", () => {
    expectTypeOf<In<"rejected">["reason"]>().toEqualTypeOf<RejectReason>();
    expectTypeOf<NotIn<"rejected">["reason"]>().toEqualTypeOf<undefined>();
    expectTypeOf<In<"completed" | "rejected">["endedAt"]>().toEqualTypeOf<number>();
    expectTypeOf<In<"pending" | "delayed" | "working">["endedAt"]>().toEqualTypeOf<undefined>();
  });

  test("has a result only if completed, and then no error", () => {
    expectTypeOf<In<"completed">["result"]>().toEqualTypeOf<unknown>();
    expectTypeOf<In<"completed">["error"]>().toEqualTypeOf<undefined>();
    expectTypeOf<NotIn<"completed">["result"]>().toEqualTypeOf<undefined>();
    expectTypeOf<NotIn<"completed">["error"]>().toEqualTypeOf<unknown>();
  });
});
