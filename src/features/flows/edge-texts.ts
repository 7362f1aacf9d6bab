/** How the edges of a flow are written for the scripts. `lua/flows.md` specifies both texts. */
import { type FlowEdges, type FlowNode, followersOf } from "./graph/flow-plan.ts";

/**
 * The followers of each node, of its own partition first.
 * @param places the partition of each node, by its name in the registry
 * @param home that of the flow as a whole, which follows all nodes
 */
export function followerLists(edges: FlowEdges, places: readonly string[], home: string): readonly string[] {
  const { first, list, to } = followersOf(edges);
  return places.map((place, node) => {
    const lists = new Map<string, string[]>([[place, []]]);
    const add = (shard: string, text: string) => {
      const texts = lists.get(shard);
      if (texts) texts.push(text);
      else lists.set(shard, [text]);
    };
    for (const edge of list.subarray(first[node], first[node + 1])) {
      const follower = to[edge] as number;
      add(places[follower] as string, `${follower}.${edge - (edges.before[follower] as number)}`);
    }
    add(home, `flow.${node}`);
    return Array.from(lists, ([shard, texts], i) =>
      i === 0 ? texts.join(",") : `${shard} ${texts.join(",")}`,
    ).join(" ");
  });
}

/** What each node waits for, a letter for each edge; and whether it has ended when the flow is added. */
export function edgeLetters(nodes: readonly Pick<FlowNode<unknown>, "kind">[], edges: FlowEdges) {
  const isOver: boolean[] = [];
  const letters = nodes.map(({ kind }, node) => {
    let own = "";
    for (let edge = edges.before[node] as number; edge < (edges.before[node + 1] as number); edge++) {
      own += isOver[edges.from[edge] as number] ? "+" : edges.mustComplete[edge] ? "c" : "e";
    }
    const isOpen = /[ce]/.test(own);
    // A node without a task that waits for nothing has completed already.
    isOver.push(!isOpen && kind !== "task");
    return isOpen ? own : "";
  });
  return { letters, isOver };
}
