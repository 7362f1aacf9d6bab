/** The edges of a flow as the records of its nodes have them: by their numbers. */
import { type AddedNodes, numberOf, type Plans, readRuns } from "../../kernel/linked/flow-layout.ts";
import { nodeId } from "../../kernel/linked/flow-names.ts";

/** A node, and the partition that it is in. */
export interface PlacedNode {
  readonly id: string;
  /** Its name in the registry. */
  readonly shard: string;
  readonly kind: "task" | "join" | "gate";
}

export interface RecordedEdge {
  readonly from: PlacedNode;
  /** The node that waits. */
  readonly to: PlacedNode;
  /** The number of the edge in the record of that. */
  readonly at: number;
}

/** Nodes that were added together. */
export interface AddedGraph {
  readonly nodes: readonly PlacedNode[];
  /** The joins behind them, one in each partition. All others are in front of the first one. */
  readonly joins: readonly PlacedNode[];
  readonly edges: readonly RecordedEdge[];
  /** The number of the node that waits for them; undefined for those of the flow itself. */
  readonly front: string | undefined;
}

/** Distinguishes nodes: joins of several partitions have one id. */
export const keyOf = ({ id, shard }: Pick<PlacedNode, "id" | "shard">) => `${shard} ${id}`;

/** The graph of each plan, by the number of the join behind it. */
export const graphsOf = (flow: string, plans: Plans): ReadonlyMap<string, AddedGraph> =>
  new Map(Array.from(plans, ([root, plan]) => [root, graphOf(flow, root, plan)]));

function graphOf(flow: string, root: string, plan: AddedNodes): AddedGraph {
  const places = plan.runs.flatMap(([shard, count]) => Array<string>(count).fill(plan.shards[shard] ?? ""));
  const kinds = new Map<number, PlacedNode["kind"]>();
  for (const place of plan.joins) kinds.set(place, "join");
  for (const place of plan.gates) kinds.set(place, "gate");
  const nodes = places.map((shard, i): PlacedNode => {
    return { id: nodeId(flow, numberOf(root, i)), shard, kind: kinds.get(i) ?? "task" };
  });
  const joins = plan.shards.map((shard): PlacedNode => ({ id: nodeId(flow, root), shard, kind: "join" }));
  const edges: RecordedEdge[] = [];
  const counts = new Map(plan.shards.map((shard) => [shard, 0]));
  const isOver: boolean[] = [];
  for (const [place, to] of nodes.entries()) {
    const before = readRuns(plan.edges[place] ?? "").flatMap(({ first, last }) =>
      Array.from({ length: last - first + 1 }, (_, i) => first + i),
    );
    for (const [at, from] of before.entries()) edges.push({ from: nodes[from] as PlacedNode, to, at });
    // Such a node had completed when it was added: it has no record.
    isOver.push(to.kind !== "task" && before.every((from) => isOver[from]));
    if (isOver.at(-1)) continue;
    const at = counts.get(to.shard) ?? 0;
    counts.set(to.shard, at + 1);
    edges.push({ from: to, to: joins[plan.shards.indexOf(to.shard)] as PlacedNode, at });
  }
  const [last, ...others] = joins as [PlacedNode, ...PlacedNode[]];
  const own = counts.get(last.shard) ?? 0;
  for (const [k, from] of others.entries()) edges.push({ from, to: last, at: own + k });
  return { nodes: nodes.filter((_, i) => !isOver[i]), joins, edges, front: plan.front?.[0] };
}
