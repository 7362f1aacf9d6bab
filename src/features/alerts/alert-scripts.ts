/** Bindings of the scripts in lua/alerts. */
import { ReplyReader, type Binding } from "../../kernel/scripts/binding.ts";
import { beginAlerts } from "../../lua/begin-alerts.gen.ts";
import type { Reply } from "../../kernel/transport.ts";

export const beginAlertsScript = {
  script: beginAlerts,
  keys: ["alerts"],
  args: ["testNow", "field", "token", "interval", "size"],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("beginAlerts", reply);
    if (reader.status("ok", "recent") === "recent") return { now: reader.integer() };
    return { now: reader.integer(), record: reader.text(), fields: reader.rest((item) => item.text()) };
  },
} as const satisfies Binding;
