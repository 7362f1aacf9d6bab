/** Bindings of the scripts in lua/partitions that consumers call. */
import { okay, type Binding } from "../../kernel/scripts/binding.ts";
import { head } from "../../lua/head.gen.ts";
import { listWork } from "../../lua/list-work.gen.ts";
import { setIdle } from "../../lua/set-idle.gen.ts";
import type { Reply } from "../../kernel/transport.ts";

export const headScript = {
  script: head,
  keys: ["pending", "fair", "limited", "working", "delayed", "tasks"],
  args: [],
  decode: (reply: Reply) => {
    const reader = okay("head", reply);
    /** Instants are epoch ms; 0 if there is none. */
    return { oldestAt: reader.integer(), nextDueAt: reader.integer() };
  },
} as const satisfies Binding;

export const listWorkScript = {
  script: listWork,
  keys: ["queues"],
  args: ["testNow"],
  each: ["name"],
  decode: (reply: Reply) => {
    const reader = okay("listWork", reply);
    return { now: reader.integer(), scores: reader.rest((item) => item.integer()) };
  },
} as const satisfies Binding;

export const setIdleScript = {
  script: setIdle,
  keys: ["queues"],
  args: [],
  each: ["name", "seen", "idle"],
  decode: (reply: Reply) => okay("setIdle", reply).integer(),
} as const satisfies Binding;
