/** The scripts that keep groups in strict order while the partitions of their queue change. */
import { holdLines } from "../../lua/hold-lines.gen.ts";
import { listLines } from "../../lua/list-lines.gen.ts";
import { moveSlots } from "../../lua/move-slots.gen.ts";
import { type Binding, okay, ReplyReader } from "../scripts/binding.ts";
import type { Reply } from "../transport.ts";

/** What the linked edition has in the place of `ownSlots`, which only small bundles without it have. */
export const moveSlotsScript = {
  script: moveSlots,
  keys: ["tasks"],
  args: ["version", "owned"],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("moveSlots", reply);
    return { status: reader.status("ok", "older"), number: reader.integer() };
  },
} as const satisfies Binding;

export const holdLinesScript = {
  script: holdLines,
  keys: ["fair", "fairByGroup", "limited", "delayed", "tasks"],
  args: ["testNow", "version", "step", "wake"],
  each: ["group", "was", "hold"],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("holdLines", reply);
    /** Whether the caller must wake a consumer; undefined if the partition has noted another version of the map. */
    return reader.status("ok", "older") === "ok" ? reader.integer() === 1 : undefined;
  },
} as const satisfies Binding;

export const listLinesScript = {
  script: listLines,
  keys: ["tasks"],
  args: ["cursor", "size"],
  decode: (reply: Reply) => {
    const reader = okay("listLines", reply);
    return {
      cursor: reader.text(),
      /** The run of Redis in which the cursor is valid; empty if it is not known. */
      run: reader.text(),
      groups: reader.rest((item) => item.text()),
    };
  },
} as const satisfies Binding;
