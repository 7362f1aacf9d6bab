/** The states of the tasks of a flow by the words of its rules, from the nested lists: without nodes, joins and gates. */
import type { After, FlowItem } from "../../../../src/features/flows/graph/flow-items.ts";

type End = "completed" | "rejected";
/** Undefined: it has not ended. */
type Ended = End | undefined;

/** What has happened so far. */
export interface Past {
  /** How tasks have ended on their own. */
  readonly ends: Map<string, End>;
  readonly cancelled: Set<string>;
  /** Tasks and inner flows that have ever been free to begin. This adds to it. */
  readonly begun: Set<string>;
}

const listed = (after: FlowItem<string>["after"]): readonly After[] =>
  after === undefined ? [] : Array.isArray(after) ? after : [after as After];

/** The state of each task, with the reason of a rejected one: `rejected: dependency_failed`. */
export function expectedStates(items: readonly FlowItem<string>[], past: Past): Map<string, string> {
  const states = new Map<string, string>();

  function endOf(
    item: FlowItem<string>,
    front: string,
    siblings: Map<string, () => Ended>,
    may: "begin" | "wait" | "fall",
  ): Ended {
    const ref = front + item.ref;
    const waits = listed(item.after).map((entry) =>
      typeof entry === "string" ? { ref: entry, on: "completed" } : entry,
    );
    const ends = waits.map(({ ref: other, on }) => ({ end: siblings.get(other)?.(), on }));
    const falls = may === "fall" || ends.some(({ end, on }) => end === "rejected" && on !== "ended");
    const waiting = may === "wait" || ends.some(({ end }) => end === undefined);
    if (!past.begun.has(ref) && !falls && !waiting && !past.cancelled.has(ref)) past.begun.add(ref);
    const now = past.begun.has(ref) ? "begin" : falls ? "fall" : "wait";
    if ("flow" in item) {
      if (item.flow.length === 0)
        return { begin: "completed", fall: "rejected", wait: undefined }[now] as Ended;
      const parts = endsOf(item.flow, `${ref}/`, now);
      if (parts.includes(undefined)) return undefined;
      return parts.every((part) => part === "completed") ? "completed" : "rejected";
    }
    const end = past.ends.get(ref);
    if (past.cancelled.has(ref)) states.set(ref, "rejected: cancelled");
    else if (now === "begin") states.set(ref, end === "rejected" ? "rejected: rejected" : (end ?? "ready"));
    else states.set(ref, now === "fall" ? "rejected: dependency_failed" : "blocked");
    if (past.cancelled.has(ref) || now === "fall") return "rejected";
    return now === "begin" ? end : undefined;
  }

  function endsOf(list: readonly FlowItem<string>[], front: string, may: "begin" | "wait" | "fall"): Ended[] {
    const siblings = new Map<string, () => Ended>();
    for (const item of list) {
      let known: { end: Ended } | undefined;
      siblings.set(item.ref, () => (known ??= { end: endOf(item, front, siblings, may) }).end);
    }
    return [...siblings.values()].map((end) => end());
  }

  endsOf(items, "", "begin");
  return states;
}
