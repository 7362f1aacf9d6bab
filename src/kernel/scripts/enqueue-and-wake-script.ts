import { ReplyReader, type Binding } from "./binding.ts";
import type { Reply } from "../transport.ts";
import { enqueueAndWake } from "../../lua/enqueue-and-wake.gen.ts";

/** Enqueues at most 490 plain tasks, as `enqueuePlainScript`, and says whether a consumer is to be woken. */
export const enqueueAndWakeScript = {
  script: enqueueAndWake,
  keys: ["pending", "tasks"],
  args: ["testNow", "window", "ifEmpty"],
  each: ["id", "record"],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("enqueueAndWake", reply);
    if (reader.status("ok", "not_plain") === "not_plain") return undefined;
    return {
      mustReadSettings: reader.integer() < 0 ? undefined : false,
      ...readAwake(reader.integer()),
    };
  },
} as const satisfies Binding;

/** Whether a consumer is to be woken; else how long one counts as awake, ms, if the call has looked. */
export function readAwake(left: number): { readonly wake: boolean; readonly awakeFor?: number } {
  if (left === 0) return { wake: true };
  return { wake: false, ...(left > 0 && { awakeFor: left }) };
}
