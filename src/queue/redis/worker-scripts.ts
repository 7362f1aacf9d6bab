/** The scripts that deal with workers, bound as in `scripts.ts`. */
import { okay, ReplyReader, type Binding } from "./binding.ts";
import { parts } from "../core/keys.ts";
import * as lua from "./lua.gen.ts";
import type { Reply } from "./transport.ts";

export const heartbeatScript = {
  script: lua.heartbeat,
  keys: ["working", "delayed", "tasks", "workers", "hands"],
  args: ["testNow", "worker", "info", "lease", "from", "limit", "told"],
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

export const failWorkerScript = {
  script: lua.failWorker,
  keys: parts,
  args: ["testNow", "worker", "limit"],
  each: [],
  decode: (reply: Reply) => {
    const reader = okay("failWorker", reply);
    return { returned: reader.integer(), rejected: reader.integer(), more: reader.integer() === 1 };
  },
} as const satisfies Binding;

export const listWorkersScript = {
  script: lua.listWorkers,
  keys: ["tasks", "workers", "hands"],
  args: ["testNow", "cursor", "size", "most"],
  each: [],
  decode: (reply: Reply) => {
    const reader = okay("listWorkers", reply);
    return {
      now: reader.integer(),
      cursor: reader.text(),
      workers: reader.rest((item) => {
        const told = item.nested();
        return {
          worker: told.text(),
          record: told.text(),
          silentAt: told.integer(),
          working: told.integer(),
          tasks: told.rest((id) => id.text()),
        };
      }),
    };
  },
} as const satisfies Binding;
