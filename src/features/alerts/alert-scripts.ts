/** Bindings of the scripts in lua/alerts. */
import { okay, ReplyReader, type Binding } from "../../kernel/scripts/binding.ts";
import { beginAlerts } from "../../lua/begin-alerts.gen.ts";
import { putAlerts } from "../../lua/put-alerts.gen.ts";
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

export const putAlertsScript = {
  script: putAlerts,
  keys: ["alerts"],
  args: [],
  each: ["field", "was", "record"],
  decode: (reply: Reply) => okay("putAlerts", reply).rest((item) => item.integer() === 1),
} as const satisfies Binding;
