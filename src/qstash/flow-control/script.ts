/** Binding of the script in lua/qstash. */
import { type Binding, okay } from "../../kernel/scripts/binding.ts";
import type { Reply } from "../../kernel/transport.ts";
import { forgetLimits } from "../../lua/forget-limits.gen.ts";

export const forgetLimitsScript = {
  script: forgetLimits,
  keys: ["needed", "delayed", "tasks"],
  args: ["testNow", "most"],
  decode: (reply: Reply) => okay("forgetLimits", reply).integer(),
} as const satisfies Binding;
