/** Bindings of the scripts that take empty queues off the registry. */
import { okay, type Binding } from "./binding.ts";
import { unregister } from "../../lua/unregister.gen.ts";
import { forgetDequeues } from "../../lua/forget-dequeues.gen.ts";
import type { Reply } from "../transport.ts";

export const unregisterScript = {
  script: unregister,
  keys: ["queues"],
  args: ["since"],
  each: ["queue"],
  decode: (reply: Reply) => okay("unregister", reply).integer(),
} as const satisfies Binding;

export const forgetDequeuesScript = {
  script: forgetDequeues,
  keys: ["pending", "fair", "limited", "working", "delayed", "tasks", "expiry"],
  args: [],
  decode: (reply: Reply) => okay("forgetDequeues", reply).integer(),
} as const satisfies Binding;
