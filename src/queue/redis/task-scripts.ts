/**
 * Scripts: each with the names of its keys and arguments, as in its contract block, and the decoder of its reply. They
 * are separate exports, and those of an enqueue and of a dequeue are in files of their own, so that a bundle has only the
 * scripts that it calls.
 */
import { taskStates } from "../core/types.ts";
import { okay, ReplyReader, type Binding } from "./binding.ts";
import { cancel } from "./lua/cancel.gen.ts";
import { get } from "./lua/get.gen.ts";
import { heartbeat } from "./lua/heartbeat.gen.ts";
import { wake } from "./lua/wake.gen.ts";
import type { Reply } from "./transport.ts";

export const cancelScript = {
  script: cancel,
  keys: ["fair", "fairByGroup", "limited", "working", "delayed", "tasks", "expiry"],
  args: ["testNow", "id", "lease"],
  each: [],
  decode: (reply: Reply) =>
    new ReplyReader("cancel", reply).status(
      "rejected",
      "working",
      "not_found",
      "already_ended",
      "lease_lost",
    ),
} as const satisfies Binding;

export const getScript = {
  script: get,
  keys: ["working", "delayed", "tasks"],
  args: ["id", "payload"],
  each: [],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("get", reply);
    if (reader.status("ok", "not_found") === "not_found") return null;
    return {
      state: reader.oneOf(taskStates),
      at: reader.integer(),
      fixed: reader.text(),
      payload: reader.text(),
      changing: reader.text(),
    };
  },
} as const satisfies Binding;

export const heartbeatScript = {
  script: heartbeat,
  keys: ["working", "delayed", "tasks", "workers", "workerLeases"],
  args: ["testNow", "worker", "info", "lease", "from", "limit", "named"],
  each: ["id", "lease", "token"],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("heartbeat", reply);
    if (reader.status("ok", "worker_lost") === "worker_lost") return null;
    return {
      leases: reader.integer(),
      deadlineAt: reader.integer(),
      next: reader.integer(),
      cancelRequested: Array.from({ length: reader.integer() }, () => reader.text()),
      lost: reader.rest((item) => item.text()),
    };
  },
} as const satisfies Binding;

export const wakeScript = {
  script: wake,
  keys: ["tasks"],
  args: ["testNow", "window"],
  each: [],
  decode: (reply: Reply) => okay("wake", reply).integer() === 1,
} as const satisfies Binding;
