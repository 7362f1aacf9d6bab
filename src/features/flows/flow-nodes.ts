/** The nodes of a flow as the scripts take them, cut into pieces. */
import { nodeId, predecessorsField } from "../../kernel/linked/flow-names.ts";
import type { NodeItem } from "../../kernel/linked/node-pieces.ts";
import { byteLength } from "../../kernel/record/byte-length.ts";
import { edgeLetters, followerLists, followersText, predecessorsOf } from "./edge-texts.ts";
import type { FlowPlan } from "./graph/flow-plan.ts";

/** Most nodes of a piece: a script that adds more keeps Redis busy for too long. */
const PIECE_NODES = 200;

/** Most bytes of the records of a piece that has several nodes. */
const PIECE_BYTES = 1_500_000;

/** Nodes to add, and where. */
export interface NodesToWrite extends FlowPlan<unknown> {
  readonly flow: string;
  readonly token: string;
  /** The number of the joins that are behind all of them: one in each partition. */
  readonly root: string;
  /** The number of a node, in its id. */
  readonly number: (node: number) => string;
  /** The partition of each node, by its name in the registry. */
  readonly places: readonly string[];
  /** That of the join which the joins of all other partitions are in front of. */
  readonly rootPlace: string;
  /** That which knows the flow. */
  readonly home: string;
  /** That in which the flow is cancelled if a task fails; undefined if it is not. */
  readonly cancelsAt: string | undefined;
  /** The records of tasks, without the letters of the flow. */
  readonly records: readonly ({ readonly delay: string; readonly record: string } | undefined)[];
}

export interface NodesOfShard {
  readonly shard: string;
  readonly items: readonly NodeItem[];
}

export interface WrittenNodes {
  /** The edges of the join behind all of them. */
  readonly rootEdges: string;
  /**
   * Pieces, in the order in which they are to be added: each node is in a later one than what waits for it, or in the
   * same. Those of one list are small together. The join of a partition is in its first piece, except the last join.
   */
  readonly pieces: readonly (readonly NodesOfShard[])[];
}

/** Writes the nodes of a flow. */
export function writeNodes(given: NodesToWrite): WrittenNodes {
  const { flow, token, root, number, places, rootPlace, home, nodes, edges, batch, records } = given;
  const { letters: waitsFor, isOver } = edgeLetters(nodes, edges);
  // How many nodes each partition has.
  const counts = new Map([[rootPlace, 0]]);
  const rootEdges = places.map((place, node) => {
    const count = counts.get(place) ?? 0;
    if (!isOver[node]) counts.set(place, count + 1);
    return count;
  });
  const followers = followerLists(edges, places, { number, root, rootEdges, home });
  const before = predecessorsOf({ nodes, edges, batch }, { places, number });
  const front = `;t=${token};F=${flow}`;
  const cancels = cancelsText(given.cancelsAt);

  function itemsOf(node: number): NodeItem[] {
    const { delay = "", record = "\n" } = records[node] ?? {};
    const kind = { task: "", join: ";J=j", gate: ";J=g" }[nodes[node]?.kind ?? "task"];
    const id = nodeId(flow, number(node));
    const letters = `${front};B=${followers[node]}${kind}${cancels}${delay}`;
    const own = { id, edges: waitsFor[node] as string, record: letters + record };
    const text = before[node];
    return text === undefined ? [own] : [own, { id: predecessorsField(id), edges: "~", record: text }];
  }

  /** The join of a partition. */
  function joinOf(shard: string): NodeItem[] {
    if (shard === rootPlace) return [];
    const edge = (counts.get(rootPlace) as number) + [...counts.keys()].indexOf(shard) - 1;
    const followed = followersText(shard, new Map([[rootPlace, [`${root}.${edge}`]]]), home);
    const record = `${front};B=${followed};J=j;H=${home}\n`;
    return [{ id: nodeId(flow, root), edges: "e".repeat(counts.get(shard) as number), record }];
  }

  const pieces: NodesOfShard[][] = [];
  const joined = new Set<string>();
  let open = new Map<string, NodeItem[]>();
  let size = 0;
  let bytes = 0;
  const close = () => {
    if (open.size > 0) pieces.push(Array.from(open, ([shard, items]) => ({ shard, items })));
    [open, size, bytes] = [new Map(), 0, 0];
  };
  // Tasks that begin at once are the last ones, in the order in which they were written.
  const all = [...nodes.keys()].filter((node) => !isOver[node]);
  const isReady = (node: number) => waitsFor[node] === "";
  for (const node of [...all.filter((one) => !isReady(one)).toReversed(), ...all.filter(isReady)]) {
    const items = itemsOf(node);
    const length = items.reduce(
      (sum, { record, edges: own }) => sum + byteLength(record, 300) + own.length,
      0,
    );
    if (size === PIECE_NODES || (size > 0 && bytes + length > PIECE_BYTES)) close();
    const shard = places[node] as string;
    const list = open.get(shard) ?? (joined.has(shard) ? [] : joinOf(shard));
    joined.add(shard);
    list.push(...items);
    open.set(shard, list);
    size++;
    bytes += length;
  }
  close();
  const ends = (counts.get(rootPlace) as number) + counts.size - 1;
  return { rootEdges: "e".repeat(ends), pieces };
}

/** The letter of nodes of a flow that is cancelled if a task fails. */
export const cancelsText = (at: string | undefined): string => (at === undefined ? "" : `;C=${at}`);
