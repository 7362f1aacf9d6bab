import { type Binding, okay, ReplyReader } from "../../kernel/scripts/binding.ts";
import type { Reply } from "../../kernel/transport.ts";
import { listStopped } from "../../lua/list-stopped.gen.ts";
import { skip } from "../../lua/skip.gen.ts";

export const skipScript = {
  script: skip,
  keys: ["fair", "fairByGroup", "limited", "delayed", "tasks"],
  args: ["testNow", "id", "wake"],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("skip", reply);
    const status = reader.status("skipped", "not_found", "not_dead_letter");
    return { status, wake: status === "skipped" && reader.integer() === 1 };
  },
} as const satisfies Binding;

export const listStoppedScript = {
  script: listStopped,
  keys: ["fairByGroup", "tasks"],
  args: ["after", "size"],
  decode: (reply: Reply) => {
    const reader = okay("listStopped", reply);
    return {
      total: reader.integer(),
      groups: reader.rest((item) => ({ group: item.text(), id: item.text() })),
    };
  },
} as const satisfies Binding;
