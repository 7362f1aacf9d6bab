/** How the edges of a flow are written for the scripts. `lua/flows.md` specifies both texts. */
import type { Predecessor } from "../../kernel/linked/flow-names.ts";
import { type FlowEdges, type FlowNode, type FlowPlan, followersOf } from "./graph/flow-plan.ts";

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
  { nodes, edges, batch }: FlowPlan<unknown>,
  { places, number }: { readonly places: readonly string[]; readonly number: (node: number) => string },
): readonly (string | undefined)[] {
  /** Also through gates, and the join of a batch. */
  const sourcesOf = (node: number): number[] =>
    edgesBefore(edges, node).flatMap(([, from]) =>
      nodes[from]?.kind === "gate" || from === batch ? sourcesOf(from) : [from],
    );
  return nodes.map(({ kind }, node) => {
    const sources = kind === "task" ? sourcesOf(node) : [];
    if (sources.length === 0) return undefined;
    const found = sources.map((from): Predecessor => [
      nodes[from]?.ref ?? "",
      number(from),
      places[from] as string,
    ]);
    return JSON.stringify(found);
  });
}

/**
 * The followers of each node, of its own partition first.
 * @param places the partition of each node, by its name in the registry
 * @param rootEdges for each node its edge to the join of its partition that is behind all nodes
 * @param home the partition that knows the flow. Lists with other partitions end with it, except its own
 */
export function followerLists(
  edges: FlowEdges,
  places: readonly string[],
  { number, root, rootEdges, home }: FollowerNames,
): readonly string[] {
  const { first, list, to } = followersOf(edges);
  return places.map((place, node) => {
    const lists = new Map<string, string[]>([[place, []]]);
    for (const edge of list.subarray(first[node], first[node + 1])) {
      const follower = to[edge] as number;
      const text = `${number(follower)}.${edge - (edges.before[follower] as number)}`;
      const texts = lists.get(places[follower] as string);
      if (texts) texts.push(text);
      else lists.set(places[follower] as string, [text]);
    }
    lists.get(place)?.push(`${root}.${rootEdges[node]}`);
    return followersText(place, lists, home);
  });
}

interface FollowerNames {
  /** The number of a node, in its id. */
  readonly number: (node: number) => string;
  /** That of the joins behind all nodes. */
  readonly root: string;
  readonly rootEdges: readonly number[];
  readonly home: string;
}

/** The followers of a node by their partitions, its own one first, as its record has them. */
export function followersText(
  place: string,
  lists: ReadonlyMap<string, readonly string[]>,
  home: string,
): string {
  const others = Array.from(lists, ([shard, texts]) =>
    shard === place ? "" : ` ${shard} ${texts.join(",")}`,
  ).join("");
  const last = others === "" || place === home ? "" : ` ${home}`;
  return (lists.get(place) ?? []).join(",") + others + last;
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
