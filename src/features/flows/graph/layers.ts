/**
 * The edges of a graph, ordered by the node that waits, as a plan has them: those of a node are `before[node]` to
 * `before[node + 1] - 1`. Each comes from a node with a smaller number.
 */
export interface GraphEdges {
  readonly before: ArrayLike<number>;
  readonly from: ArrayLike<number>;
}

/** Calls back for each edge, in the order of the nodes that wait. */
export function eachEdge(
  { before, from }: GraphEdges,
  call: (from: number, to: number, edge: number) => void,
): void {
  for (let node = 0; node < before.length - 1; node++) {
    const end = before[node + 1] as number;
    for (let edge = before[node] as number; edge < end; edge++) call(from[edge] as number, node, edge);
  }
}

/**
 * The layer of each node, from 0: one more than that of the last node that it waits for. One that waits for none is next
 * to the first that waits for it.
 */
export function layersOf(edges: GraphEdges): number[] {
  const layers = Array.from({ length: edges.before.length - 1 }, () => 0);
  eachEdge(edges, (from, to) => {
    layers[to] = Math.max(layers[to] as number, (layers[from] as number) + 1);
  });
  const next = layers.map(() => Infinity);
  eachEdge(edges, (from, to) => {
    next[from] = Math.min(next[from] as number, layers[to] as number);
  });
  return layers.map((layer, node) => {
    const behind = next[node] as number;
    return layer === 0 && behind < Infinity ? behind - 1 : layer;
  });
}
