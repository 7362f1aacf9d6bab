/** Nodes of a flow that have lost their records: as they were when they were added. */
import { newToken } from "../../kernel/names/ids.ts";
import { type AddedNodes, numberOf, type Plans, readRuns } from "../../kernel/linked/flow-layout.ts";
import { ROOT, rootOf } from "../../kernel/linked/flow-names.ts";
import type { NodeItem } from "../../kernel/linked/node-pieces.ts";
import { cancelsText, writeNodes } from "./flow-nodes.ts";
import type { FlowEdges } from "./graph/flow-plan.ts";
import { type AddedGraph, keyOf, type PlacedNode } from "./recorded-edges.ts";

interface Known {
  readonly flow: string;
  readonly home: string;
  /** The home, if the flow is cancelled once a task has failed. */
  readonly cancelsAt: string | undefined;
  readonly plans: Plans;
  readonly graphs: ReadonlyMap<string, AddedGraph>;
}

/** What `add-flow` takes for nodes that begin again, by {@link keyOf}. Joins behind nodes that a task has added have none. */
export function nodesAgain({ flow, home, cancelsAt, plans, graphs }: Known): ReadonlyMap<string, NodeItem> {
  const items = new Map<string, NodeItem>();
  const later = laterEdges(plans, graphs);
  const put = (node: Pick<PlacedNode, "id" | "shard">, { id, edges, record }: NodeItem, isTask: boolean) => {
    const more = later.get(keyOf(node)) ?? "";
    items.set(keyOf(node), { id, edges: `~r${edges}${more}`, record: isTask ? "" : record });
  };
  for (const [root, plan] of plans) {
    const { nodes, joins } = graphs.get(root) as AddedGraph;
    const tasks = new Set(nodes.flatMap((node) => (node.kind === "task" ? [keyOf(node)] : [])));
    const token = newToken();
    const first = plan.shards[0] as string;
    const { rootEdges, pieces } = writeNodes({
      flow,
      token,
      root,
      home,
      cancelsAt,
      rootPlace: first,
      records: [],
      batch: plan.batch,
      number: (node) => numberOf(root, node),
      places: plan.runs.flatMap(([shard, count]) => Array<string>(count).fill(plan.shards[shard] ?? "")),
      nodes: plan.refs.map((ref, place) => {
        const kind = plan.joins.includes(place) ? "join" : plan.gates.includes(place) ? "gate" : "task";
        return { kind, ref, path: "", task: undefined };
      }),
      edges: edgesOf(plan),
    });
    for (const { shard, items: own } of pieces.flat())
      for (const item of own)
        if (!item.id.startsWith("~"))
          put({ id: item.id, shard }, item, tasks.has(keyOf({ id: item.id, shard })));
    if (root !== ROOT) continue;
    const record = `;t=${token};F=${flow};J=j;H=${home}${cancelsText(cancelsAt)}\n`;
    put(joins[0] as PlacedNode, { id: rootOf(flow), edges: rootEdges, record }, false);
  }
  return items;
}

/**
 * The letters of edges to nodes that were added later, by the nodes that wait for them: those in front of which they are,
 * and the joins behind these.
 */
function laterEdges(plans: Plans, graphs: ReadonlyMap<string, AddedGraph>): ReadonlyMap<string, string> {
  const letters = new Map<string, string>();
  const add = (node: PlacedNode | undefined, letter: string) => {
    if (node) letters.set(keyOf(node), (letters.get(keyOf(node)) ?? "") + letter);
  };
  const fronts = new Set(Array.from(plans.values(), ({ front }) => front?.[0]));
  const places = new Map<string, readonly PlacedNode[]>();
  for (const { nodes, joins } of graphs.values()) {
    for (const node of nodes) {
      const number = node.id.slice(0, node.id.indexOf("{"));
      const behind = joins.find(({ shard }) => shard === node.shard);
      if (fronts.has(number) && behind) places.set(number, [node, behind]);
    }
  }
  for (const { front } of plans.values()) {
    if (!front) continue;
    const [node, behind] = places.get(front[0]) ?? graphs.get(front[0])?.joins ?? [];
    add(node, front[1][0] ?? "c");
    if (places.has(front[0])) add(behind, "e");
  }
  return letters;
}

/** The edges of nodes as a plan has them. */
function edgesOf({ edges }: AddedNodes): FlowEdges {
  const all = edges.map((text) =>
    readRuns(text).flatMap(({ letter, first, last }) =>
      Array.from({ length: last - first + 1 }, (_, i) => ({ letter, from: first + i })),
    ),
  );
  const before = new Uint32Array(all.length + 1);
  for (const [node, own] of all.entries()) before[node + 1] = (before[node] as number) + own.length;
  const flat = all.flat();
  return {
    before,
    from: Uint32Array.from(flat, ({ from }) => from),
    mustComplete: Uint8Array.from(flat, ({ letter }) => Number(letter === "c")),
    mustFail: Uint8Array.from(flat, ({ letter }) => Number(letter === "r")),
  };
}
