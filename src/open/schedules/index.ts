import { calendarOf, checkedSchedule, type NewSchedule } from "../../features/schedules/index.ts";
import { schedulesPart as sweepPart } from "../sweep-parts.ts";
import type { SchedulesPart } from "./part.ts";
import { Schedules } from "./schedules.ts";

export type { SchedulesPart } from "./part.ts";

function occurs(schedule: NewSchedule<unknown>): boolean {
  const { recurrence } = checkedSchedule(schedule, "");
  if ("every" in recurrence) return true;
  // In any time zone an expression has no time for the same reason, such as 31 February.
  return calendarOf({ ...recurrence, timeZone: "UTC" }).firstFrom(0) !== undefined;
}

/**
 * Schedules, for the option `schedules` of a deployment or an app. A program that has its own queues uses `Schedules` of
 * `sluice-queue`.
 * @example export default sluice({ schedules, consumers: [digest.consumer(send)] });
 */
export const schedules: SchedulesPart = {
  open: (queue, options) => new Schedules(queue, options),
  sweepPart,
  occurs,
};
