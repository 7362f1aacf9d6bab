/** Bindings of the scripts in lua/endpoints. */
import { okay, ReplyReader, type Binding } from "../../kernel/scripts/binding.ts";
import { noteApplied } from "../../lua/note-applied.gen.ts";
import { putEndpoint } from "../../lua/put-endpoint.gen.ts";
import { reportDeliveries } from "../../lua/report-deliveries.gen.ts";
import type { Reply } from "../../kernel/transport.ts";

export const putEndpointScript = {
  script: putEndpoint,
  keys: ["endpoints"],
  args: ["testNow", "id", "version", "record", "state", "most"],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("putEndpoint", reply);
    const status = reader.status("ok", "changed", "full");
    if (status !== "ok") return { status };
    return { status, version: reader.integer(), state: reader.text() };
  },
} as const satisfies Binding;

export const noteAppliedScript = {
  script: noteApplied,
  keys: ["endpoints"],
  args: [],
  each: ["id", "changed"],
  decode: (reply: Reply) => okay("noteApplied", reply).rest((item) => item.integer() === 1),
} as const satisfies Binding;

export const reportDeliveriesScript = {
  script: reportDeliveries,
  keys: ["endpoints"],
  args: ["testNow", "token", "window", "least", "share", "pause", "longest", "disableAfter"],
  each: ["id", "failed", "succeeded", "gone"],
  decode: (reply: Reply) => {
    const reader = okay("reportDeliveries", reply);
    return {
      version: reader.integer(),
      states: reader.rest((item) => ({
        change: item.oneOf(["", "opened", "closed", "disabled"]),
        state: item.text(),
      })),
    };
  },
} as const satisfies Binding;
