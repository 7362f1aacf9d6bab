export { type Calendar, type Recurrence, calendarOf, readRecurrence, rhythmOf } from "./calendar.ts";
export { MAX_SCHEDULE_NAME, type NewSchedule, checkedSchedule, scheduleName } from "./new-schedule.ts";
export { schedulesPart } from "./schedule-pass.ts";
export {
  type ListedSchedule,
  type Schedule,
  type ScheduledOptions,
  type ScheduledTask,
  writeTask,
} from "./schedule-record.ts";
export { occurrencesCounted, skippedOf, type Skipped } from "./skipped-occurrences.ts";
export {
  type ListSchedulesOptions,
  type ScheduleChanged,
  type SchedulePage,
  type SchedulePut,
  type ScheduleRemoved,
  type ScheduleResumed,
  type ScheduleRun,
  Schedules,
} from "./schedules.ts";
export { schedulesRepair } from "./schedule-repair.ts";
