/** Makes nodes and edges of the list of a flow. */
import { type CheckedItem, type CheckedList, checkFlow } from "./check-flow.ts";
import type { FlowItem } from "./flow-items.ts";
import type { FlowNode, FlowPlan } from "./flow-plan.ts";

/** An edge from a node of the plan. */
interface Edge {
  readonly from: number;
  readonly mustComplete: boolean;
}

/**
 * Checks a flow, and plans it. An inner flow costs one edge for each of its tasks, and one for each item that waits for
 * it: it is a node of its own, a join. What it waits for is waited for by its first tasks.
 * @param items in any order
 * @param path of the list, for errors
 * @returns the same for the same list
 * @throws {SluiceError} `invalid_argument`, as {@link checkFlow} does
 */
export function planFlow<Q>(items: readonly FlowItem<Q>[], path = "tasks"): FlowPlan<Q> {
  const nodes: FlowNode<Q>[] = [];
  const before = [0];
  const from: number[] = [];
  const mustComplete: number[] = [];

  function add(node: FlowNode<Q>, edges: readonly Edge[]): number {
    nodes.push(node);
    for (const edge of edges) {
      from.push(edge.from);
      mustComplete.push(edge.mustComplete ? 1 : 0);
    }
    before.push(from.length);
    return nodes.length - 1;
  }

  /** @returns the node with which each item ends */
  function addList({ items: list, order }: CheckedList<Q>, entry: readonly Edge[]): number[] {
    const ends = list.map(() => 0);
    for (const place of order) {
      const item = list[place] as CheckedItem<Q>;
      const own = item.edges.map((edge) => ({ ...edge, from: ends[edge.from] as number }));
      ends[place] = addItem(item, isFirst(item) ? [...entry, ...own] : own);
    }
    return ends;
  }

  function addItem({ ref, path: at, task, inner }: CheckedItem<Q>, edges: readonly Edge[]): number {
    const of = { ref, path: at, task };
    if (!inner) return add({ kind: "task", ...of }, edges);
    const isEmpty = inner.items.length === 0;
    const isLone = inner.items.filter(isFirst).length === 1;
    // Its first tasks may wait each for the same completion. But an end must have been waited for by all, or by none.
    const isPlain = edges.length === 1 && edges[0]?.mustComplete === true;
    const isGated = edges.length > 0 && (isEmpty || !(isLone || isPlain));
    const entry = isGated ? [{ from: add({ kind: "gate", ...of }, edges), mustComplete: true }] : edges;
    const ends = isEmpty ? entry.map((gate) => gate.from) : addList(inner, entry);
    const parts = ends.map((end) => ({ from: end, mustComplete: false }));
    return add({ kind: "join", ...of }, parts);
  }

  addList(checkFlow(items, path), []);
  return {
    nodes,
    edges: {
      before: Uint32Array.from(before),
      from: Uint32Array.from(from),
      mustComplete: Uint8Array.from(mustComplete),
      mustFail: new Uint8Array(from.length),
    },
  };
}

/**
 * Whether an item of an inner flow waits itself for what its flow waits for. One that waits for the completion of another
 * item need not: it cannot begin before that one, and falls with it. One that waits for an end must, because a task may
 * also end before its flow begins.
 */
const isFirst = <Q>({ edges }: CheckedItem<Q>) => !edges.some(({ mustComplete }) => mustComplete);
