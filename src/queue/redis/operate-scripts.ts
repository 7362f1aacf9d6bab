/** The scripts that operate a queue, as `scripts.ts` binds the others. */
import { okay, ReplyReader, type Binding } from "./binding.ts";
import * as lua from "./lua.gen.ts";
import { readLetters } from "../operate/settings.ts";
import type { Reply } from "./transport.ts";

export const configureScript = {
  script: lua.configure,
  keys: ["fair", "order", "held", "delayed", "tasks", "calls"],
  args: ["testNow", "token", "group"],
  each: ["letter", "value"],
  decode: (reply: Reply) => readLetters(okay("configure", reply).text()),
} as const satisfies Binding;

export const settingsScript = {
  script: lua.settings,
  keys: ["tasks"],
  args: ["group"],
  each: [],
  decode: (reply: Reply) => {
    const reader = okay("settings", reply);
    return {
      letters: readLetters(reader.text()),
      numbers: { ready: reader.integer(), working: reader.integer(), held: reader.integer() },
    };
  },
} as const satisfies Binding;

export const statisticsScript = {
  script: lua.statistics,
  keys: ["tasks"],
  args: ["testNow"],
  each: [],
  decode: (reply: Reply) => {
    const reader = okay("statistics", reply);
    return { now: reader.integer(), on: reader.integer() === 1, records: reader.rest((item) => item.text()) };
  },
} as const satisfies Binding;

export const deleteQueueScript = {
  script: lua.deleteQueue,
  // Written out: bundlers keep what has a spread, whether it is used or not.
  keys: [
    "pending",
    "fair",
    "order",
    "held",
    "working",
    "delayed",
    "tasks",
    "expiry",
    "dead",
    "workers",
    "hands",
    "schedules",
    "timetable",
    "calls",
  ],
  args: ["testNow", "token", "force"],
  each: [],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("deleteQueue", reply);
    return reader.status("ok", "working") === "ok"
      ? { deletedAt: reader.integer() }
      : { working: reader.integer() };
  },
} as const satisfies Binding;
