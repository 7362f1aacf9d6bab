import { expect, test } from "vitest";
import { skippedOccurrences, skippedOf } from "../../../src/features/schedules/skipped-occurrences.ts";
import type { Plan } from "../../../src/features/schedules/schedule-record.ts";

const at = (time: string) => Date.parse(`2026-11-23T${time}Z`);
const plan: Plan = {
  rhythm: { cron: "*/15 * * * *", timeZone: "UTC" },
  until: undefined,
  missed: "last",
  pausedAt: at("01:50:00"),
  createdAt: 0,
  lastAt: at("01:45:00"),
};
const none = { count: 0, lastAt: 0 };

test.each<[string, Partial<Plan>, string, object]>([
  ["before the first", {}, "01:59:59", none],
  // A resume enqueues what is due at once.
  ["at the first", {}, "02:00:00", none],
  ["after the first", {}, "02:00:01", { count: 1, lastAt: at("02:00:00") }],
  ["after several", {}, "02:40:00", { count: 3, lastAt: at("02:30:00") }],
  ["after it has ended", { until: at("02:20:00") }, "09:00:00", { count: 2, lastAt: at("02:15:00") }],
  [
    "paused in the instant of its last one",
    { pausedAt: at("01:45:00") },
    "02:00:01",
    { count: 1, lastAt: at("02:00:00") },
  ],
  [
    "very often",
    { rhythm: { every: 1_000, from: at("01:00:00") } },
    "09:00:00",
    { count: 100, lastAt: at("08:59:59") },
  ],
  ["not paused", { pausedAt: undefined }, "09:00:00", none],
])("of a schedule %s", (_, changes, now, skipped) => {
  expect(skippedOccurrences({ ...plan, ...changes }, at(now))).toEqual(skipped);
});

test.each(["1;c=* * * * *;p=1;z=Mars/Olympus", "9;c=* * * * *;p=1", "1;c=nonsense;p=1", ""])(
  "of a record that cannot be followed, none: %j",
  (record) => expect(skippedOf(record, at("02:00:00"))).toEqual(none),
);
