/** The scripts that look at a queue's tasks and operate on them, as `scripts.ts` binds the others. */
import { okay, ReplyReader, type Binding } from "./binding.ts";
import * as lua from "./lua.gen.ts";
import type { Reply } from "./transport.ts";

export const listScript = {
  script: lua.list,
  keys: ["pending", "fair", "held", "working", "delayed", "tasks", "expiry", "dead"],
  args: ["state", "cursor", "size", "filter", "payloads", "maxBytes"],
  each: [],
  decode: (reply: Reply) => {
    const reader = okay("list", reply);
    return {
      cursor: reader.text(),
      left: reader.integer(),
      tasks: reader.rest((item) => ({
        id: item.text(),
        at: item.integer(),
        fixed: item.text(),
        payload: item.text(),
        changing: item.text(),
      })),
    };
  },
} as const satisfies Binding;

export const removeScript = {
  script: lua.remove,
  keys: ["tasks", "expiry", "dead"],
  args: ["testNow", "id"],
  each: [],
  decode: (reply: Reply) => new ReplyReader("remove", reply).status("removed", "not_found", "alive"),
} as const satisfies Binding;

export const redriveScript = {
  script: lua.redrive,
  keys: ["pending", "fair", "order", "held", "delayed", "tasks", "expiry", "dead"],
  args: ["testNow", "limit", "dry", "interval", "cursor", "filter"],
  each: ["id", "lease"],
  decode: (reply: Reply) => {
    const reader = okay("redrive", reply);
    return {
      count: reader.integer(),
      cursor: reader.text(),
      left: reader.integer(),
      answers: reader.rest((item) =>
        item.oneOf(["redriven", "not_found", "not_dead_letter", "lease_lost", "newer_schema"]),
      ),
    };
  },
} as const satisfies Binding;

export const purgeScript = {
  script: lua.purge,
  keys: ["pending", "fair", "order", "held", "delayed", "tasks", "expiry", "dead"],
  args: ["testNow", "state", "limit", "cursor", "filter"],
  each: [],
  decode: (reply: Reply) => {
    const reader = okay("purge", reply);
    return { count: reader.integer(), cursor: reader.text(), left: reader.integer() };
  },
} as const satisfies Binding;
