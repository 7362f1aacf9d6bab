/** Bindings of the scripts in lua/debounce. */
import { okay, ReplyReader, type Binding } from "../../kernel/scripts/binding.ts";
import type { Reply } from "../../kernel/transport.ts";
import { enqueueDebounced } from "../../lua/enqueue-debounced.gen.ts";
import { enqueueOrReplace } from "../../lua/enqueue-or-replace.gen.ts";
import { enqueueSingle } from "../../lua/enqueue-single.gen.ts";
import { enqueueThrottled } from "../../lua/enqueue-throttled.gen.ts";
import { forgetKey } from "../../lua/forget-key.gen.ts";
import { type KeyedOutcome, keyedOutcomes } from "./types.ts";

const keys = ["pending", "fair", "fairByGroup", "limited", "delayed", "tasks", "expiry", "dead"] as const;
const task = ["testNow", "wake", "slots", "id", "when", "unique", "record"] as const;

/** The reply of an enqueue with a key. */
export type KeyedReply =
  | {
      readonly status: "ok";
      readonly mustReadSettings: boolean;
      /** Whether a consumer is to be woken. */
      readonly wake: boolean;
      /** When the task is due, epoch ms; undefined if it is ready, or nothing is known. */
      readonly dueAt: number | undefined;
      readonly outcome: KeyedOutcome;
      readonly id: string;
    }
  /** The payload must be sealed for this id, or for a new one. */
  | { readonly status: "seal"; readonly id: string | undefined }
  | { readonly status: "full" | "reused" }
  /** Another shard has to do it. */
  | { readonly status: "moved" | "unknown" };

function read(script: string, reply: Reply): KeyedReply {
  const reader = new ReplyReader(script, reply);
  const status = reader.status("ok", "full", "reused", "moved", "unknown", "seal");
  if (status === "seal") return { status, id: reader.text() || undefined };
  if (status !== "ok") return { status };
  const mustReadSettings = reader.integer() === 1;
  const wake = reader.integer() === 1;
  const dueAt = reader.integer() || undefined;
  const outcome = reader.oneOf(keyedOutcomes);
  return { status, mustReadSettings, wake, dueAt, outcome, id: reader.text() };
}

export const enqueueDebouncedScript = {
  script: enqueueDebounced,
  keys,
  args: [...task, "key", "wait", "maxWait", "keep", "sealed"],
  decode: (reply: Reply) => read("enqueueDebounced", reply),
} as const satisfies Binding;

export const enqueueThrottledScript = {
  script: enqueueThrottled,
  keys,
  args: [...task, "key", "most", "per", "excess"],
  decode: (reply: Reply) => read("enqueueThrottled", reply),
} as const satisfies Binding;

export const enqueueSingleScript = {
  script: enqueueSingle,
  keys,
  args: [...task, "key", "blocks", "action", "sealed"],
  decode: (reply: Reply) => read("enqueueSingle", reply),
} as const satisfies Binding;

export const enqueueOrReplaceScript = {
  script: enqueueOrReplace,
  keys,
  args: task,
  decode: (reply: Reply) => read("enqueueOrReplace", reply),
} as const satisfies Binding;

export const forgetKeyScript = {
  script: forgetKey,
  keys: ["tasks", "expiry"],
  args: ["testNow", "key", "token"],
  // Whether the key was known.
  decode: (reply: Reply) => okay("forgetKey", reply).integer() === 1,
} as const satisfies Binding;
