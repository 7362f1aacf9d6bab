import { okay, type Binding } from "./binding.ts";
import { wake } from "../../lua/wake.gen.ts";
import type { Reply } from "../transport.ts";

export const wakeScript = {
  script: wake,
  keys: ["tasks"],
  args: ["testNow", "window"],
  decode: (reply: Reply) => okay("wake", reply).integer() === 1,
} as const satisfies Binding;
