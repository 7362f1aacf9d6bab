import { ReplyReader, type Binding } from "./binding.ts";
import { cancel } from "../../lua/cancel.gen.ts";
import type { Reply } from "../transport.ts";

export const cancelScript = {
  script: cancel,
  keys: ["fair", "fairByGroup", "limited", "working", "delayed", "tasks", "expiry"],
  args: ["testNow", "id", "lease"],
  decode: (reply: Reply) =>
    new ReplyReader("cancel", reply).status(
      "rejected",
      "working",
      "not_found",
      "already_ended",
      "lease_lost",
    ),
} as const satisfies Binding;
