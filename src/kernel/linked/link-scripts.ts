/** The scripts by which partitions notify each other what has become of the tasks of a flow. */
import { addFlow } from "../../lua/add-flow.gen.ts";
import { endFlow } from "../../lua/end-flow.gen.ts";
import { readOutbox } from "../../lua/read-outbox.gen.ts";
import { notify } from "../../lua/notify.gen.ts";
import { stageFlow } from "../../lua/stage-flow.gen.ts";
import { type Binding, okay, ReplyReader } from "../scripts/binding.ts";
import type { Reply } from "../transport.ts";

/** What a partition has to notify others, until it is done. */
export interface OutboxEntry {
  /** Under which `expiry` has it. */
  readonly member: string;
  /** `field`: tasks to add to another partition. `node`: the followers of a task to be notified. */
  readonly kind: "field" | "node";
  readonly outcome: string;
  readonly followers: string;
  readonly because: string;
}

/** Reads the entries of an outbox, to the end of a reply. */
export const readEntries = (reader: ReplyReader): OutboxEntry[] =>
  reader.rest((item) => ({
    member: item.text(),
    kind: item.oneOf(["field", "node"]),
    outcome: item.text(),
    followers: item.text(),
    because: item.text(),
  }));

export const addFlowScript = {
  script: addFlow,
  keys: ["pending", "fair", "fairByGroup", "limited", "delayed", "tasks", "expiry"],
  args: ["testNow", "wake", "token", "mayRefuse"],
  each: ["id", "edges", "record"],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("addFlow", reply);
    const status = reader.status("ok", "full", "lost");
    if (status !== "ok") return { status, wake: false, by: "others" } as const;
    const wake = reader.integer() === 1;
    return { status, wake, by: ADDED_BY[reader.integer()] ?? "others" } as const;
  },
} as const satisfies Binding;

/** Whose call has added nodes: others are of another flow with that id. */
const ADDED_BY = ["others", "copy", "this"] as const;

export const stageFlowScript = {
  script: stageFlow,
  keys: ["tasks", "expiry"],
  args: ["testNow", "root", "keptFor"],
  each: ["member", "text"],
  decode: (reply: Reply) => {
    const reader = okay("stageFlow", reply);
    if (!reader.ended) reader.oneOf([]);
  },
} as const satisfies Binding;

export const notifyScript = {
  script: notify,
  keys: ["pending", "fair", "fairByGroup", "limited", "working", "delayed", "tasks", "expiry", "dead"],
  args: ["testNow", "wake"],
  each: ["id", "edge", "outcome", "because"],
  decode: (reply: Reply) => {
    const reader = okay("notify", reply);
    const [wake, unknown] = [reader.integer() === 1, reader.integer()];
    return { wake, unknown, outbox: readEntries(reader) };
  },
} as const satisfies Binding;

export const readOutboxScript = {
  script: readOutbox,
  keys: ["tasks", "expiry"],
  args: ["size"],
  decode: (reply: Reply) => {
    const reader = okay("readOutbox", reply);
    return { nodes: reader.integer(), entries: readEntries(reader) };
  },
} as const satisfies Binding;

export const endFlowScript = {
  script: endFlow,
  keys: ["tasks", "expiry"],
  args: ["testNow", "keptFor"],
  each: ["id"],
  decode: (reply: Reply) => {
    const reader = okay("endFlow", reply);
    if (!reader.ended) reader.oneOf([]);
  },
} as const satisfies Binding;
