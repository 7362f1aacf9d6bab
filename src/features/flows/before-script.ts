import { readBefore } from "../../lua/read-before.gen.ts";
import { type Binding, okay } from "../../kernel/scripts/binding.ts";
import type { Reply } from "../../kernel/transport.ts";

export const readBeforeScript = {
  script: readBefore,
  keys: ["tasks"],
  args: ["id", "queue", "bytes"],
  each: ["id"],
  decode: (reply: Reply) => {
    const reader = okay("readBefore", reply);
    return {
      waitsFor: reader.text(),
      left: reader.integer(),
      nodes: reader.rest((item) => ({
        id: item.text(),
        state: item.oneOf(["completed", "rejected", ""]),
        changing: item.text(),
      })),
    };
  },
} as const satisfies Binding;
