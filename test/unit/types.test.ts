import { describe, expect, expectTypeOf, test } from "vitest";
import type { Duration, ListedTask, RejectReason, TaskInfo, TaskState } from "../../src/index.ts";
import { milliseconds } from "../../src/queue/core/duration.ts";

describe("a duration", () => {
  test("is a number of milliseconds, or a number with a unit", () => {
    const given: Duration[] = [300_000, "300000ms", "300s", "5m"];
    expect(given.map((duration) => milliseconds(duration, "delay"))).toEqual(given.map(() => 300_000));
    const longer: Duration[] = ["2h", "7d"];
    expect(longer.map((duration) => milliseconds(duration, "delay"))).toEqual([7_200_000, 604_800_000]);
  });

  test("may have any whole number, from 0 to twelve digits", () => {
    const given: Duration[] = ["0ms", "9ms", "10s", "100m", "1440m", "86400s", "315360000000ms"];
    expect(given.map((duration) => milliseconds(duration, "delay"))).toEqual([
      0, 9, 10_000, 6_000_000, 86_400_000, 86_400_000, 315_360_000_000,
    ]);
  });

  test("may have three decimals, if it is whole milliseconds", () => {
    const given: Duration[] = ["1.5h", "0.5s", "0.001s", "1.1m", "2.675s", "0.0s", "1.500d"];
    expect(given.map((duration) => milliseconds(duration, "delay"))).toEqual([
      5_400_000, 500, 1, 66_000, 2_675, 0, 129_600_000,
    ]);
  });

  test("may be made of a number and a unit", () => {
    const minutes = 5 as number;
    const unit = "m" as "m" | "s";
    const given: Duration[] = [`${minutes}m`, `5${unit}`, `${minutes / 2}m`];
    expect(given.map((duration) => milliseconds(duration, "delay"))).toEqual([300_000, 300_000, 150_000]);
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
