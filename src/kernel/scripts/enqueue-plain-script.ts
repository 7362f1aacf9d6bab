import { ReplyReader, type Binding } from "./binding.ts";
import { enqueuePlain } from "../../lua/enqueue-plain.gen.ts";
import type { Reply } from "../transport.ts";

/** Enqueues at most 490 tasks for now, without group, priority, dedup key and `again`. */
export const enqueuePlainScript = {
  script: enqueuePlain,
  keys: ["pending", "tasks"],
  args: ["testNow", "withSettings"],
  each: ["id", "record"],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("enqueuePlain", reply);
    // Nothing was written, and the tasks must be sent with `enqueueScript`.
    if (reader.status("ok", "not_plain") === "not_plain") return undefined;
    return {
      /** Whether enqueues must read the queue's settings; undefined if this call did not read them. */
      mustReadSettings: reader.integer() < 0 ? undefined : false,
      wake: false,
    };
  },
} as const satisfies Binding;
