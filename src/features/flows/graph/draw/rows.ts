/** Which nodes of a flow are drawn in which row. */
import { eachEdge, layersOf } from "../layers.ts";
import type { DrawnFlow } from "./drawn-flow.ts";

/** Nodes that are waited for together. Nodes that wait for the same ones have the same object. */
export type Entry = readonly number[];

/** A line of a drawing: a node, or several of a layer. */
export interface Row {
  /** Ascending. */
  readonly nodes: readonly number[];
  /** What its nodes wait for. */
  readonly entries: readonly Entry[];
}

/** Most rows of nodes that are alike, and of a layer. */
const MOST_ALIKE = 4;
const MOST_OF_LAYER = 16;

/**
 * The rows of a flow, layer by layer. Many nodes that are alike get one row: they wait for the same ones, the same ones
 * wait for them, and their queue is the same. So do the last ones of a layer that is too wide.
 */
export function rowsOf(flow: DrawnFlow): readonly Row[] {
  const entries = entriesOf(flow);
  const likeness = likenessOf(flow, entries);
  const layers: number[][] = [];
  for (const [node, layer] of layersOf(flow.edges).entries()) {
    if (flow.nodes[node]?.kind !== "gate") (layers[layer] ??= []).push(node);
  }
  const rowOf = (nodes: readonly number[]): Row => ({
    nodes,
    entries: [...new Set(nodes.flatMap((node) => entries[node] as Entry[]))],
  });
  return layers.flatMap((layer) => {
    const groups = new Map<string, number[]>();
    for (const node of layer) {
      const like = likeness[node] as string;
      const alike = groups.get(like);
      if (alike) alike.push(node);
      else groups.set(like, [node]);
    }
    const rows = [...groups.values()].flatMap((alike) =>
      alike.length > MOST_ALIKE ? [alike] : alike.map((node) => [node]),
    );
    rows.sort(([one = 0], [other = 0]) => one - other);
    const isWide = rows.length > MOST_OF_LAYER;
    const shown = isWide ? rows.slice(0, MOST_OF_LAYER - 1) : rows;
    const rest = rows.slice(shown.length).flat();
    return [...shown, ...(isWide ? [rest.toSorted((one, other) => one - other)] : [])].map(rowOf);
  });
}

/** What each node waits for. A gate is replaced by what it waits for itself. */
function entriesOf({ nodes, edges }: DrawnFlow): readonly (readonly Entry[])[] {
  const known = new Map<string, Entry>();
  const all: Entry[][] = [];
  const sources = nodes.map((): number[] => []);
  eachEdge(edges, (from, to) => sources[to]?.push(from));
  for (const before of sources) {
    const own = before.filter((source) => nodes[source]?.kind !== "gate");
    const gates = before.filter((source) => nodes[source]?.kind === "gate");
    const key = own.join();
    const entry = known.get(key) ?? own;
    known.set(key, entry);
    all.push([...(own.length > 0 ? [entry] : []), ...gates.flatMap((gate) => all[gate] as Entry[])]);
  }
  return all;
}

/** A text for each node, which is the same for nodes that are alike. */
function likenessOf({ nodes, edges }: DrawnFlow, entries: readonly (readonly Entry[])[]): readonly string[] {
  const behind = nodes.map((): number[] => []);
  const ends = nodes.map((): number[] => []);
  eachEdge(edges, (from, to, edge) => {
    behind[from]?.push(to);
    ends[to]?.push(edges.mustComplete[edge] as number);
  });
  const numbers = new Map<Entry, number>();
  const numberOf = (entry: Entry) => {
    const number = numbers.get(entry) ?? numbers.size;
    numbers.set(entry, number);
    return number;
  };
  return nodes.map(({ kind, queue }, node) =>
    [kind, queue, behind[node], entries[node]?.map(numberOf), ends[node]].join(";"),
  );
}
