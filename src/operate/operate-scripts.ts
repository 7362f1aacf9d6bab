/** Bindings of the scripts in lua/operate. */
import { allParts, parts } from "../kernel/names/keys.ts";
import { readSettings } from "../kernel/record/settings-record.ts";
import { okay, readExpired, ReplyReader, type Binding } from "../kernel/scripts/binding.ts";
import { list } from "../lua/list.gen.ts";
import { remove } from "../lua/remove.gen.ts";
import { redrive } from "../lua/redrive.gen.ts";
import { purge } from "../lua/purge.gen.ts";
import { declare } from "../lua/declare.gen.ts";
import { listGroups } from "../lua/list-groups.gen.ts";
import { statistics } from "../lua/statistics.gen.ts";
import { failWorker } from "../lua/fail-worker.gen.ts";
import { forgetWorker } from "../lua/forget-worker.gen.ts";
import { listWorkers } from "../lua/list-workers.gen.ts";
import { deleteQueue } from "../lua/delete-queue.gen.ts";
import { readGroupCounts } from "../kernel/scripts/settings-scripts.ts";
import { readRecords } from "../kernel/scripts/count-script.ts";
import type { Reply } from "../kernel/transport.ts";

export const listScript = {
  script: list,
  keys: ["pending", "fair", "limited", "working", "delayed", "tasks", "expiry", "dead"],
  args: ["state", "cursor", "size", "filter", "payloads", "maxBytes", "backwards"],
  decode: (reply: Reply) => {
    const reader = okay("list", reply);
    return {
      cursor: reader.text(),
      unreadable: reader.integer(),
      looked: reader.integer(),
      sealed: reader.integer(),
      tasks: reader.rest((item) => ({
        id: item.text(),
        score: item.text(),
        fixed: item.text(),
        payload: item.text(),
        changing: item.text(),
      })),
    };
  },
} as const satisfies Binding;

export const removeScript = {
  script: remove,
  keys: ["fair", "fairByGroup", "limited", "delayed", "tasks", "expiry", "dead"],
  args: ["testNow", "id"],
  decode: (reply: Reply) => new ReplyReader("remove", reply).status("removed", "not_found", "alive"),
} as const satisfies Binding;

export const redriveScript = {
  script: redrive,
  keys: ["pending", "fair", "fairByGroup", "limited", "delayed", "tasks", "expiry", "dead"],
  args: ["testNow", "limit", "dry", "interval", "cursor", "filter", "wake"],
  each: ["id", "lease"],
  decode: (reply: Reply) => {
    const reader = okay("redrive", reply);
    return {
      count: reader.integer(),
      cursor: reader.text(),
      unreadable: reader.integer(),
      wake: reader.integer() === 1,
      answers: reader.rest((item) =>
        item.oneOf(["redriven", "not_found", "not_dead_letter", "lease_lost", "newer_schema"]),
      ),
    };
  },
} as const satisfies Binding;

export const purgeScript = {
  script: purge,
  keys: ["pending", "fair", "fairByGroup", "limited", "delayed", "tasks", "expiry", "dead"],
  args: ["testNow", "state", "limit", "cursor", "filter"],
  decode: (reply: Reply) => {
    const reader = okay("purge", reply);
    return { count: reader.integer(), cursor: reader.text(), unreadable: reader.integer() };
  },
} as const satisfies Binding;

export const declareScript = {
  script: declare,
  keys: ["tasks"],
  args: ["was", "record"],
  decode: (reply: Reply) => okay("declare", reply).integer() === 1,
} as const satisfies Binding;

export const listGroupsScript = {
  script: listGroups,
  keys: ["fairByGroup", "limited", "tasks"],
  args: ["testNow", "cursor", "size"],
  decode: (reply: Reply) => {
    const reader = okay("listGroups", reply);
    return {
      cursor: reader.text(),
      groups: reader.rest((item) => ({
        group: item.text(),
        settings: readSettings(item.text()),
        counts: readGroupCounts(item),
      })),
    };
  },
} as const satisfies Binding;

export const statisticsScript = {
  script: statistics,
  keys: ["tasks"],
  args: ["testNow", "history"],
  decode: (reply: Reply) => {
    const reader = okay("statistics", reply);
    const [now, on, all] = [reader.integer(), reader.integer() === 1, readRecords(reader)];
    // An empty record is between those of the minutes and those of the last day.
    const end = all.minutes.indexOf("");
    const minutes = end < 0 ? all.minutes : all.minutes.slice(0, end);
    const buckets = end < 0 ? undefined : all.minutes.slice(end + 1);
    return { now, on, records: { ...all, minutes, buckets } };
  },
} as const satisfies Binding;

const readTakenBack = (reader: ReplyReader) => ({ ...readExpired(reader), reason: "taken_back" as const });

export const failWorkerScript = {
  script: failWorker,
  keys: parts,
  args: ["testNow", "worker", "limit", "wake"],
  decode: (reply: Reply) => {
    const reader = okay("failWorker", reply);
    const failed = { returned: reader.integer(), rejected: reader.integer(), more: reader.integer() === 1 };
    return { failed, wake: reader.integer() === 1, deadLetters: reader.rest(readTakenBack) };
  },
} as const satisfies Binding;

export const forgetWorkerScript = {
  script: forgetWorker,
  keys: ["tasks", "expiry", "workers", "workerLeases"],
  args: ["worker"],
  decode: (reply: Reply) => okay("forgetWorker", reply).integer(),
} as const satisfies Binding;

export const listWorkersScript = {
  script: listWorkers,
  keys: ["working", "tasks", "workers", "workerLeases"],
  args: ["testNow", "cursor", "size", "most"],
  decode: (reply: Reply) => {
    const reader = okay("listWorkers", reply);
    return {
      now: reader.integer(),
      cursor: reader.text(),
      workers: reader.rest((item) => {
        const worker = item.nested();
        return {
          worker: worker.text(),
          record: worker.text(),
          failure: worker.text(),
          silentAt: worker.integer(),
          extendedAt: worker.integer(),
          working: worker.integer(),
          tasks: worker.rest((id) => id.text()),
        };
      }),
    };
  },
} as const satisfies Binding;

export const deleteQueueScript = {
  script: deleteQueue,
  keys: allParts,
  args: ["testNow", "token", "force"],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("deleteQueue", reply);
    return reader.status("ok", "working") === "ok"
      ? { deletedAt: reader.integer() }
      : { working: reader.integer(), nodes: reader.integer() };
  },
} as const satisfies Binding;
