import type { TaskState } from "../options/types.ts";
import { ReplyReader, type Binding } from "./binding.ts";
import { get } from "../../lua/get.gen.ts";
import type { Reply } from "../transport.ts";

export const getScript = {
  script: get,
  keys: ["working", "delayed", "tasks"],
  args: ["id", "payload"],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("get", reply);
    if (reader.status("ok", "not_found") === "not_found") return null;
    return {
      state: reader.text() as TaskState,
      at: reader.integer(),
      fixed: reader.text(),
      payload: reader.text(),
      changing: reader.text(),
    };
  },
} as const satisfies Binding;
