/** Bindings of the scripts in lua/partitions that also producers call. */
import { allParts, plainName } from "../../kernel/names/keys.ts";
import { okay, ReplyReader, type Binding } from "../../kernel/scripts/binding.ts";
import { readAdded, readAnswers } from "../../kernel/scripts/enqueue-script.ts";
import { renameKeys } from "../../lua/rename-keys.gen.ts";
import { askFormer } from "../../lua/ask-former.gen.ts";
import { ownSlots } from "../../lua/own-slots.gen.ts";
import { putMap } from "../../lua/put-map.gen.ts";
import type { Reply } from "../../kernel/transport.ts";

export const renameKeysScript = {
  script: renameKeys,
  keys: [...allParts.map(plainName), ...allParts],
  args: ["count"],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("renameKeys", reply);
    /** How many partitions the queue was to get at first. */
    return reader.status("ok", "twice") === "ok" ? reader.integer() : undefined;
  },
} as const satisfies Binding;

export const askFormerScript = {
  script: askFormer,
  keys: ["pending", "fair", "fairByGroup", "limited", "delayed", "tasks", "expiry", "dead"],
  args: ["testNow", "wake", "refuseEach"],
  each: ["id", "when", "unique", "record"],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("askFormer", reply);
    const status = reader.status("ok", "full", "reused");
    // A task that the partition does not know has no answer.
    return readAnswers(reader, status, (answer) => (answer === -1 ? undefined : readAdded(answer)));
  },
} as const satisfies Binding;

export const ownSlotsScript = {
  script: ownSlots,
  keys: ["tasks"],
  args: ["version", "owned"],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("ownSlots", reply);
    /** The version of the map that the partition knows, if it is later. */
    if (reader.status("ok", "older") === "older") return { noted: reader.integer(), used: undefined };
    /** Whether the partition had been used before. */
    return { noted: undefined, used: reader.integer() === 1 };
  },
} as const satisfies Binding;

export const putMapScript = {
  script: putMap,
  keys: ["queues", "maps"],
  args: ["queue", "was", "map", "partitions"],
  decode: (reply: Reply) => okay("putMap", reply).text(),
} as const satisfies Binding;
