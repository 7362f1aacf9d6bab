/** Binding of the script that pauses a queue for a consumer. */
import { okay, type Binding } from "./binding.ts";
import { pause } from "../../lua/pause.gen.ts";
import type { Reply } from "../transport.ts";

export const pauseScript = {
  script: pause,
  keys: ["tasks"],
  args: ["testNow", "length"],
  decode: (reply: Reply) => okay("pause", reply).rest((item) => item.integer()),
} as const satisfies Binding;
