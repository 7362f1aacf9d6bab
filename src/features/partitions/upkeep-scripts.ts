/** Bindings of the scripts in lua/partitions that keep a queue with partitions in order. */
import { okay, ReplyReader, type Binding } from "../../kernel/scripts/binding.ts";
import { findForeign } from "../../lua/find-foreign.gen.ts";
import { setShares } from "../../lua/set-shares.gen.ts";
import { putShares } from "../../lua/put-shares.gen.ts";
import type { Reply } from "../../kernel/transport.ts";

export const findForeignScript = {
  script: findForeign,
  keys: ["tasks"],
  args: ["cursor", "size", "before"],
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
  decode: (reply: Reply) => okay("putShares", reply).text(),
} as const satisfies Binding;
