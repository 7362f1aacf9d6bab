/** How the edges of a flow are written for the scripts. `lua/flows.md` specifies both texts. */
import type { Predecessor } from "../../kernel/linked/flow-names.ts";
import { type FlowEdges, type FlowNode, followersOf } from "./graph/flow-plan.ts";

/** What a node waits for: a letter, as records have it, and the node that must end. */
export function edgesBefore(
  { before, from, mustComplete, mustFail }: FlowEdges,
  node: number,
): [letter: string, from: number][] {
  const [first, last] = [before[node] as number, before[node + 1] as number];
  return Array.from({ length: last - first }, (_, i) => {
    const edge = first + i;
    const letter = mustComplete[edge] ? "c" : mustFail[edge] ? "r" : "e";
    return [letter, from[edge] as number];
  });
}

/** What each task waits for, as its caller wrote it: JSON; undefined for nothing. */
export function predecessorsOf(
  nodes: readonly Pick<FlowNode<unknown>, "kind" | "ref">[],
  edges: FlowEdges,
  places: readonly string[],
): readonly (string | undefined)[] {
  /** Also through gates. */
  const sourcesOf = (node: number): number[] =>
    edgesBefore(edges, node).flatMap(([, from]) => (nodes[from]?.kind === "gate" ? sourcesOf(from) : [from]));
  return nodes.map(({ kind }, node) => {
    const sources = kind === "task" ? sourcesOf(node) : [];
    if (sources.length === 0) return undefined;
    const found = sources.map((from): Predecessor => [nodes[from]?.ref ?? "", from, places[from] as string]);
    return JSON.stringify(found);
  });
}

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
    for (const [letter, from] of edgesBefore(edges, node)) own += isOver[from] ? "+" : letter;
    const isOpen = /[cer]/.test(own);
    // A node without a task that waits for nothing has completed already.
    isOver.push(!isOpen && kind !== "task");
    return isOpen ? own : "";
  });
  return { letters, isOver };
}
