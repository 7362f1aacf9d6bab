/** The scripts by which partitions notify each other what has become of the tasks of a flow. */
import { addBefore } from "../../lua/add-before.gen.ts";
import { addFlow } from "../../lua/add-flow.gen.ts";
import { cancelNodes } from "../../lua/cancel-nodes.gen.ts";
import { endFlow } from "../../lua/end-flow.gen.ts";
import { readOutbox } from "../../lua/read-outbox.gen.ts";
import { readNodes } from "../../lua/read-nodes.gen.ts";
import { notify } from "../../lua/notify.gen.ts";
import { stageFlow } from "../../lua/stage-flow.gen.ts";
import type { TaskState } from "../options/types.ts";
import { type Binding, okay, ReplyReader } from "../scripts/binding.ts";
import type { Reply } from "../transport.ts";

/** What a partition has to notify others, until it is done. */
export interface OutboxEntry {
  /** Under which `expiry` has it. */
  readonly member: string;
  /**
   * `field`: tasks to add to another partition. `node`: the followers of a task to be notified. `cancel`: a flow of which
   * all tasks are to be cancelled. `lost`: what a flow has lost here by a forced deletion.
   */
  readonly kind: "field" | "node" | "cancel" | "lost";
  readonly outcome: string;
  readonly followers: string;
  readonly because: string;
}

/** Reads the entries of an outbox, to the end of a reply. */
export const readEntries = (reader: ReplyReader): OutboxEntry[] =>
  reader.rest((item) => ({
    member: item.text(),
    kind: item.oneOf(["field", "node", "cancel", "lost"]),
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

export const addBeforeScript = {
  script: addBefore,
  keys: ["pending", "fair", "fairByGroup", "limited", "delayed", "tasks", "expiry"],
  args: ["testNow", "wake", "flow", "front", "edge", "behind"],
  each: ["id", "edges", "record"],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("addBefore", reply);
    const status = reader.status("ok", "full", "lost", "not_blocked", "ended");
    if (status !== "ok") return { status, wake: false, by: "others" } as const;
    const wake = reader.integer() === 1;
    return { status, wake, by: ADDED_BY[reader.integer()] ?? "others" } as const;
  },
} as const satisfies Binding;

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
  args: ["size", "skip"],
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

export const cancelNodesScript = {
  script: cancelNodes,
  keys: ["pending", "fair", "fairByGroup", "limited", "working", "delayed", "tasks", "expiry", "dead"],
  args: ["testNow", "mark", "outbox"],
  each: ["id"],
  decode: (reply: Reply) => {
    const reader = okay("cancelNodes", reply);
    const [cancelled, flagged, unknown] = [reader.integer(), reader.integer(), reader.integer()];
    return { cancelled, flagged, unknown, outbox: readEntries(reader) };
  },
} as const satisfies Binding;

/** What has become of a node of a flow. */
export interface NodeStatus {
  readonly id: string;
  /** Empty if it is not known. */
  readonly state: TaskState | "";
  /** Empty if it has none. */
  readonly reason: string;
  /** The id of the task with which it fell, or empty. */
  readonly because: string;
  /**
   * Of a join: when it was added and ended, and its letters `N` and `C`. Of a task that went on after it had been rejected:
   * `again`.
   */
  readonly more: string;
  /** With `deep`, while it waits: its edges, as the record has them in `Q`. Empty if it is not blocked. */
  readonly edges: string;
}

export const readNodesScript = {
  script: readNodes,
  keys: ["delayed", "tasks"],
  args: ["maxBytes", "deep"],
  each: ["id"],
  decode: (reply: Reply) => {
    return okay("readNodes", reply).rest((item): NodeStatus => ({
      id: item.text(),
      state: item.text() as TaskState | "",
      reason: item.text(),
      because: item.text(),
      more: item.text(),
      edges: item.text(),
    }));
  },
} as const satisfies Binding;
