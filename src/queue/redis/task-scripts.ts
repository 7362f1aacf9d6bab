/**
 * Scripts: each with the names of its keys and arguments, as in its contract block, and the decoder of its reply. They
 * are separate exports, and those of an enqueue and of a dequeue are in files of their own, so that a bundle has only the
 * scripts that it calls.
 */
import { okay, ReplyReader, type Binding } from "./binding.ts";
import { heartbeat } from "./lua/heartbeat.gen.ts";
import { wake } from "./lua/wake.gen.ts";
import type { Reply } from "./transport.ts";

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
