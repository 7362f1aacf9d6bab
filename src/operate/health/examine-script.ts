import { readSettings } from "../../kernel/record/settings-record.ts";
import { okay, type Binding, type ReplyReader } from "../../kernel/scripts/binding.ts";
import type { Reply } from "../../kernel/transport.ts";
import { examine } from "../../lua/examine.gen.ts";

/** Times are 0, and texts empty, if there is none. */
const attemptsOf = (reader: ReplyReader) => ({
  tried: reader.integer(),
  failed: reader.integer(),
  since: reader.integer(),
  lastAt: reader.integer(),
  id: reader.text(),
  error: reader.text(),
  /** Of the tasks that are working. */
  workingError: reader.text(),
  completedAt: reader.integer(),
});

export const examineScript = {
  script: examine,
  keys: [
    "limited",
    "working",
    "tasks",
    "dead",
    "workers",
    "schedules",
    "timetable",
    "pending",
    "fair",
    "delayed",
    "expiry",
  ],
  args: ["testNow", "recent", "late", "never"],
  decode: (reply: Reply) => {
    const reader = okay("examine", reply);
    const dead = reader.nested();
    const workers = reader.nested().rest((item) => ({
      worker: item.text(),
      record: item.text(),
      failure: item.text(),
    }));
    const work = reader.nested();
    return {
      newDeadLetters: { count: dead.integer(), firstAt: Number(dead.text()), lastAt: Number(dead.text()) },
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
      attempts: attemptsOf(reader.nested()),
      /** By the rate of the queue; 0 if it is not known. */
      takenUntil: reader.integer(),
      lateSchedules: {
        count: reader.integer(),
        first: reader.nested().rest((item) => ({ name: item.text(), at: item.integer() })),
      },
      pausedSchedules: reader
        .nested()
        .rest((item) => ({ name: item.text(), at: item.integer(), record: item.text() })),
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
