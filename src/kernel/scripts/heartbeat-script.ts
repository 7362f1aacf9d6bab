import { ReplyReader, type Binding } from "./binding.ts";
import { heartbeat } from "../../lua/heartbeat.gen.ts";
import type { Reply } from "../transport.ts";

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
