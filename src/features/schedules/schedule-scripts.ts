/** Bindings of the scripts in lua/schedules. */
import { SluiceError } from "../../errors.ts";
import { okay, ReplyReader, type Binding } from "../../kernel/scripts/binding.ts";
import { putSchedule } from "../../lua/put-schedule.gen.ts";
import { listSchedules } from "../../lua/list-schedules.gen.ts";
import { dueSchedules } from "../../lua/due-schedules.gen.ts";
import { runSchedules } from "../../lua/run-schedules.gen.ts";
import { setReminder } from "../../lua/set-reminder.gen.ts";
import type { Reply } from "../../kernel/transport.ts";

export const putScheduleScript = {
  script: putSchedule,
  keys: ["schedules", "timetable", "operatorCalls"],
  args: ["testNow", "token", "name", "was", "record", "task", "at"],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("putSchedule", reply);
    const status = reader.status("ok", "changed", "refused");
    switch (status) {
      case "ok":
        return { status, existed: reader.integer() === 1, at: reader.integer() };
      case "changed":
        return { status, now: reader.integer(), record: reader.text(), at: reader.integer() };
      default:
        return { status };
    }
  },
} as const satisfies Binding;

/** The error if `putSchedule` was called to read, but did not return the schedule. */
export const scheduleNotReturned = () =>
  new SluiceError("unexpected_reply", "putSchedule did not return the schedule");

export const listSchedulesScript = {
  script: listSchedules,
  keys: ["schedules", "timetable"],
  args: ["name", "cursor", "size"],
  decode: (reply: Reply) => {
    const reader = okay("listSchedules", reply);
    return {
      cursor: reader.text(),
      schedules: reader.rest((item) => ({
        name: item.text(),
        at: item.integer(),
        record: item.text(),
        task: item.text(),
      })),
    };
  },
} as const satisfies Binding;

export const dueSchedulesScript = {
  script: dueSchedules,
  keys: ["schedules", "timetable"],
  args: ["testNow", "limit"],
  decode: (reply: Reply) => {
    const reader = okay("dueSchedules", reply);
    return {
      now: reader.integer(),
      /** The first occurrence of the schedules that are not in `due`, epoch ms; 0 if there is none. */
      after: reader.integer(),
      due: reader.rest((item) => ({ name: item.text(), at: item.integer(), record: item.text() })),
    };
  },
} as const satisfies Binding;

export const runSchedulesScript = {
  script: runSchedules,
  keys: ["pending", "fair", "fairByGroup", "limited", "delayed", "tasks", "schedules", "timetable"],
  args: ["testNow"],
  each: ["name", "at", "record", "times", "following"],
  decode: (reply: Reply) => {
    const reader = okay("runSchedules", reply);
    return {
      full: reader.integer() === 1,
      /**
       * `next`: -1 if the schedule has changed since it was read, -2 if it has no task. `task`: its recurring
       * task, if it belongs to the partition that owns the slot of its group.
       */
      schedules: reader.rest((item) => {
        const [added, next] = [item.integer(), item.integer()];
        return { added, next, task: next === -3 ? item.text() : undefined };
      }),
    };
  },
} as const satisfies Binding;

export const setReminderScript = {
  script: setReminder,
  keys: ["queues"],
  args: ["testNow"],
  each: ["queue", "before", "at"],
  decode: (reply: Reply) => okay("setReminder", reply).rest((item) => item.text()),
} as const satisfies Binding;
