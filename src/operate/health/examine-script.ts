import { readSettings } from "../../kernel/record/settings-record.ts";
import { okay, type Binding } from "../../kernel/scripts/binding.ts";
import type { Reply } from "../../kernel/transport.ts";
import { examine } from "../../lua/examine.gen.ts";

export const examineScript = {
  script: examine,
  keys: ["limited", "working", "tasks", "dead", "workers", "schedules", "timetable"],
  args: ["testNow", "recent", "late", "never"],
  decode: (reply: Reply) => {
    const reader = okay("examine", reply);
    const newDeadLetters = reader.integer();
    const workers = reader.nested().rest((item) => ({
      worker: item.text(),
      record: item.text(),
      failure: item.text(),
    }));
    const work = reader.nested();
    return {
      newDeadLetters,
      workers,
      /** `since` is 0 if no task is working. */
      work: {
        since: work.integer(),
        worker: work.text(),
        lease: work.integer(),
        lastLease: Number(work.text()),
        lastTakenAt: work.integer(),
        expiring: work.rest((item) => ({ id: item.text(), leases: item.integer() })),
      },
      /** By the rate of the queue; 0 if it is not known. */
      takenUntil: reader.integer(),
      lateSchedules: {
        count: reader.integer(),
        first: reader.nested().rest((item) => ({ name: item.text(), at: item.integer() })),
      },
      pausedSchedules: reader.nested().rest((item) => ({ name: item.text(), at: item.integer() })),
      limited: reader.integer(),
      groups: reader.nested().rest((item) => ({
        group: item.text(),
        settings: readSettings(item.text()),
        working: item.integer(),
        limited: item.integer(),
        oldestAt: item.integer(),
      })),
    };
  },
} as const satisfies Binding;
