import { ReplyReader, type Binding } from "../../kernel/scripts/binding.ts";
import { readAwake } from "../../kernel/scripts/enqueue-and-wake-script.ts";
import type { Reply } from "../../kernel/transport.ts";
import { enqueueAndLease } from "../../lua/enqueue-and-lease.gen.ts";

/** Enqueues at most 32 plain tasks, and leases them if nothing else is ready and no consumer counts as awake. */
export const enqueueAndLeaseScript = {
  script: enqueueAndLease,
  keys: ["pending", "working", "tasks"],
  args: ["testNow", "wake", "lease", "token"],
  each: ["id", "record"],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("enqueueAndLease", reply);
    const status = reader.status("ok", "leased", "known", "not_plain");
    // Nothing was written, and the tasks must be sent with `enqueueScript`.
    if (status === "not_plain") return undefined;
    const mustReadSettings = false;
    if (status === "known") return { mustReadSettings, isKnown: true } as const;
    if (status === "ok") return { mustReadSettings, ...readAwake(reader.integer()), leased: undefined };
    const enqueuedAt = reader.integer();
    const leases = reader.rest((item) => item.integer());
    return { mustReadSettings, wake: false, leased: { enqueuedAt, leases } };
  },
} as const satisfies Binding;
