/** Bindings of the scripts in lua/operate that read and write settings. */
import { readSettings } from "../record/settings-record.ts";
import { okay, type Binding, type ReplyReader } from "./binding.ts";
import { configure } from "../../lua/configure.gen.ts";
import { settings } from "../../lua/settings.gen.ts";
import type { Reply } from "../transport.ts";

export const configureScript = {
  script: configure,
  keys: ["pending", "fair", "fairByGroup", "limited", "delayed", "tasks", "operatorCalls"],
  args: ["testNow", "token", "group", "wake"],
  each: ["letter", "value"],
  decode: (reply: Reply) => {
    const reader = okay("configure", reply);
    return { settings: readSettings(reader.text()), wake: reader.integer() === 1 };
  },
} as const satisfies Binding;

/** What the tasks of a group do. */
export const readGroupCounts = (reader: ReplyReader) => ({
  ready: reader.integer(),
  working: reader.integer(),
  limited: reader.integer(),
  inLine: reader.integer(),
  stoppedBy: reader.text() || null,
});

export const settingsScript = {
  script: settings,
  keys: ["tasks"],
  args: ["testNow", "group"],
  decode: (reply: Reply) => {
    const reader = okay("settings", reply);
    return {
      settings: readSettings(reader.text()),
      counts: readGroupCounts(reader),
    };
  },
} as const satisfies Binding;
