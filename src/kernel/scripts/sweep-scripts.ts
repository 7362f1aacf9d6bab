/** Bindings of the scripts in lua/sweep that most sweeps call. */
import { parts } from "../names/keys.ts";
import { okay, readExpired, type Binding } from "./binding.ts";
import { sweep } from "../../lua/sweep.gen.ts";
import { register } from "../../lua/register.gen.ts";
import { listQueues } from "../../lua/list-queues.gen.ts";
import type { Reply } from "../transport.ts";

export const sweepScript = {
  script: sweep,
  keys: parts,
  args: ["testNow", "limit", "wake", "ahead"],
  decode: (reply: Reply) => {
    const reader = okay("sweep", reply);
    return {
      promoted: reader.integer(),
      reclaimed: reader.integer(),
      rejected: reader.integer(),
      expired: reader.integer(),
      more: reader.integer() === 1,
      newer: reader.integer(),
      wake: reader.integer() === 1,
      /** When the next task is due or lease expires, epoch ms; 0 if it was not asked for, or there is none. */
      nextDueAt: reader.integer(),
      deadLetters: reader.rest(readExpired),
    };
  },
} as const satisfies Binding;

export const registerScript = {
  script: register,
  keys: ["queues"],
  args: ["testNow"],
  each: ["queue"],
  decode: (reply: Reply) => okay("register", reply).rest((item) => item.text()),
} as const satisfies Binding;

export const listQueuesScript = {
  script: listQueues,
  keys: ["queues"],
  args: ["testNow", "cursor", "size"],
  decode: (reply: Reply) => {
    const reader = okay("listQueues", reply);
    return {
      now: reader.integer(),
      cursor: reader.text(),
      queues: reader.rest((item) => ({ name: item.text(), seenAt: item.integer() })),
    };
  },
} as const satisfies Binding;
