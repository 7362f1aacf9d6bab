/** The scripts in lua/partitions, bound as in `task-scripts.ts`. */
import { okay, ReplyReader, type Binding } from "./binding.ts";
import { readAdded, readAnswers } from "./task-scripts.ts";
import { renameKeys } from "./lua/rename-keys.gen.ts";
import { askFormer } from "./lua/ask-former.gen.ts";
import { ownSlots } from "./lua/own-slots.gen.ts";
import { putMap } from "./lua/put-map.gen.ts";
import { head } from "./lua/head.gen.ts";
import { listWork } from "./lua/list-work.gen.ts";
import { setIdle } from "./lua/set-idle.gen.ts";
import { findForeign } from "./lua/find-foreign.gen.ts";
import { setShares } from "./lua/set-shares.gen.ts";
import { putShares } from "./lua/put-shares.gen.ts";
import type { Reply } from "./transport.ts";

export const renameKeysScript = {
  script: renameKeys,
  keys: [
    "plainPending",
    "plainFair",
    "plainFairByGroup",
    "plainLimited",
    "plainWorking",
    "plainDelayed",
    "plainTasks",
    "plainExpiry",
    "plainDead",
    "plainWorkers",
    "plainWorkerLeases",
    "plainSchedules",
    "plainTimetable",
    "plainOperatorCalls",
    "pending",
    "fair",
    "fairByGroup",
    "limited",
    "working",
    "delayed",
    "tasks",
    "expiry",
    "dead",
    "workers",
    "workerLeases",
    "schedules",
    "timetable",
    "operatorCalls",
  ],
  args: ["count"],
  each: [],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("renameKeys", reply);
    /** How many partitions the queue was to get at first. */
    return reader.status("ok", "twice") === "ok" ? reader.integer() : undefined;
  },
} as const satisfies Binding;

export const askFormerScript = {
  script: askFormer,
  keys: ["pending", "fair", "fairByGroup", "limited", "delayed", "tasks", "expiry", "dead"],
  args: ["testNow", "wake", "refuseEach"],
  each: ["id", "when", "unique", "record"],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("askFormer", reply);
    const status = reader.status("ok", "full", "reused");
    // A task that the partition does not know has no answer.
    return readAnswers(reader, status, (answer) => (answer === -1 ? undefined : readAdded(answer)));
  },
} as const satisfies Binding;

export const ownSlotsScript = {
  script: ownSlots,
  keys: ["tasks"],
  args: ["version", "owned"],
  each: [],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("ownSlots", reply);
    /** The version of the map that the partition knows, if it is later. */
    if (reader.status("ok", "older") === "older") return { noted: reader.integer(), used: undefined };
    /** Whether the partition had been used before. */
    return { noted: undefined, used: reader.integer() === 1 };
  },
} as const satisfies Binding;

export const putMapScript = {
  script: putMap,
  keys: ["queues", "maps"],
  args: ["queue", "was", "map", "partitions"],
  each: [],
  decode: (reply: Reply) => okay("putMap", reply).text(),
} as const satisfies Binding;

export const headScript = {
  script: head,
  keys: ["pending", "fair", "limited", "working", "delayed", "tasks"],
  args: [],
  each: [],
  decode: (reply: Reply) => {
    const reader = okay("head", reply);
    /** Instants are epoch ms; 0 if there is none. */
    return { oldestAt: reader.integer(), nextDueAt: reader.integer() };
  },
} as const satisfies Binding;

export const listWorkScript = {
  script: listWork,
  keys: ["queues"],
  args: ["testNow"],
  each: ["name"],
  decode: (reply: Reply) => {
    const reader = okay("listWork", reply);
    return { now: reader.integer(), scores: reader.rest((item) => item.integer()) };
  },
} as const satisfies Binding;

export const setIdleScript = {
  script: setIdle,
  keys: ["queues"],
  args: [],
  each: ["name", "seen", "idle"],
  decode: (reply: Reply) => okay("setIdle", reply).integer(),
} as const satisfies Binding;

export const findForeignScript = {
  script: findForeign,
  keys: ["tasks"],
  args: ["cursor", "size", "before"],
  each: [],
  decode: (reply: Reply) => {
    const reader = okay("findForeign", reply);
    return {
      cursor: reader.text(),
      /** The run of Redis in which the cursor is valid; empty if it is not known. */
      run: reader.text(),
      /** Ids; those that derive from idempotency keys, from before that time, after `~k:`; dedup keys after `~d:`. */
      names: reader.rest((item) => item.text()),
    };
  },
} as const satisfies Binding;

export const setSharesScript = {
  script: setShares,
  keys: ["pending", "fair", "limited", "working", "tasks"],
  args: ["testNow", "version", "maxWorking", "rate", "maxPending", "wake"],
  each: [],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("setShares", reply);
    if (reader.status("ok", "older") === "older") return { noted: reader.integer() };
    return {
      pending: reader.integer(),
      working: reader.integer(),
      /** Dequeues within the last period of the rate. */
      dequeued: reader.integer(),
      wake: reader.integer() === 1,
    };
  },
} as const satisfies Binding;

export const putSharesScript = {
  script: putShares,
  keys: ["tasks"],
  args: ["was", "shares"],
  each: [],
  decode: (reply: Reply) => okay("putShares", reply).text(),
} as const satisfies Binding;
