/** The picture of a flow: where its nodes and edges are, and where the arrow keys lead. */
import { eachEdge, layoutSteps, reportGraph } from "../../../features/flows/graph/index.ts";
import type { Flow } from "../api/types.ts";

/** The size of a node. */
export const WIDTH = 170;
export const HEIGHT = 42;

const SIZES = { layer: 240, node: 56 };

/** Around the nodes. */
const MARGIN = 12;

/** How long the layout may work before the page does something else, ms. */
const SLICE = 10;

/** What is known of an edge. */
export type Tone = "open" | "done" | "bad";

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** The middle of each node, by its ref. */
  readonly places: ReadonlyMap<string, readonly [number, number]>;
  /** Where edges of several nodes meet. */
  readonly gates: readonly (readonly [number, number])[];
  readonly edges: readonly PictureEdge[];
  /** The node to which an arrow key leads, if there is one. */
  next(ref: string, key: string): string | undefined;
}

interface PictureEdge {
  /** As the attribute `d` of a path. */
  readonly path: string;
  /** The refs of the nodes that it comes from: several behind a gate. */
  readonly from: readonly { readonly ref: string; readonly isNeeded: boolean }[];
  /** Whether it may begin when the other has ended in any way. */
  readonly isAnyEnd: boolean;
}

/** Of what a picture is made. If it is the same, so is the picture. */
export const structureOf = (nodes: Flow["nodes"]) =>
  nodes.map(({ ref, after }) => `${ref}<${after.map((edge) => edge.on + edge.ref).join()}`).join();

/**
 * Makes the picture of a flow, in slices, so that the page stays alive.
 * @throws the reason of the signal
 */
export async function pictureOf(reported: Flow["nodes"], signal: AbortSignal): Promise<Picture> {
  const { nodes, edges } = reportGraph(reported);
  const steps = layoutSteps(edges, SIZES);
  let step = steps.next();
  for (let begun = performance.now(); !step.done; step = steps.next()) {
    if (performance.now() - begun < SLICE) continue;
    await new Promise((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
    begun = performance.now();
  }
  const layout = step.value;
  const [left, top] = [MARGIN + WIDTH / 2, MARGIN + HEIGHT / 2];
  const moved = ([x, y]: readonly [number, number]) => [x + left, y + top] as const;
  const places = layout.nodes.map(moved);

  const behind = nodes.map((): number[] => []);
  const before = nodes.map((): number[] => []);
  const intoGate: PictureEdge["from"][number][][] = [];
  const drawn: PictureEdge[] = [];
  eachEdge(edges, (from, to, edge) => {
    behind[from]?.push(to);
    before[to]?.push(from);
    const isNeeded = edges.mustComplete[edge] === 1;
    const [source, target] = [nodes[from], nodes[to]];
    const own = { ref: source?.ref ?? "", isNeeded };
    if (!target) (intoGate[to] ??= []).push(own);
    const points = (layout.edges[edge] ?? []).map(moved);
    drawn.push({
      path: pathOf(points, !source, !target),
      from: source ? [own] : (intoGate[from] ?? []),
      // Of an inner flow the tasks are parts: it waits for all of them.
      isAnyEnd: !isNeeded && target?.kind !== "flow",
    });
  });
  return {
    width: layout.size[0] + 2 * left,
    height: layout.size[1] + 2 * top,
    places: new Map(nodes.flatMap((node, i) => (node ? [[node.ref, places[i] as [number, number]]] : []))),
    gates: places.filter((_, i) => nodes[i] === undefined),
    edges: drawn,
    next: keysOf(nodes, places, { before, behind }),
  };
}

/** The path of an edge. It is bent only between layers; through a layer it is straight. */
function pathOf(
  points: readonly (readonly [number, number])[],
  isFromGate: boolean,
  isToGate: boolean,
): string {
  const half = WIDTH / 2;
  let path = "";
  points.forEach(([x, y], i) => {
    const before = points[i - 1];
    if (!before) {
      path = isFromGate ? `M${x} ${y}h${half}` : `M${x + half} ${y}`;
      return;
    }
    const middle = (before[0] + x) / 2;
    path += `C${middle} ${before[1]} ${middle} ${y} ${x - half} ${y}`;
    if (i < points.length - 1) path += `h${WIDTH}`;
    else if (isToGate) path += `h${half}`;
  });
  return path;
}

/**
 * Where keys lead: up and down within a layer, left and right along the edges, or to a neighbour if there is none; Home and
 * End to the first and the last node.
 */
function keysOf(
  nodes: ReturnType<typeof reportGraph>["nodes"],
  places: readonly (readonly [number, number])[],
  { before, behind }: Readonly<Record<"before" | "behind", readonly (readonly number[])[]>>,
): Picture["next"] {
  const numbers = nodes.flatMap((node, i) => (node ? [i] : []));
  const numberOf = new Map(nodes.map((node, i) => [node?.ref, i]));
  const at = (i: number) => places[i] ?? [0, 0];
  return (ref, key) => {
    const own = numberOf.get(ref);
    if (own === undefined) return undefined;
    const [x, y] = at(own);
    const nearest = (list: readonly number[]) =>
      list.toSorted((one, other) => Math.abs(at(one)[1] - y) - Math.abs(at(other)[1] - y))[0];
    const within = (sign: 1 | -1) =>
      nearest(numbers.filter((i) => at(i)[0] === x && (at(i)[1] - y) * sign > 0));
    const along = (lists: readonly (readonly number[])[], sign: 1 | -1) =>
      nearest((lists[own] ?? []).flatMap((i) => (nodes[i] ? [i] : (lists[i] ?? [])))) ??
      nearest(numbers.filter((i) => at(i)[0] === x + sign * SIZES.layer));
    const found: Readonly<Record<string, () => number | undefined>> = {
      ArrowUp: () => within(-1),
      ArrowDown: () => within(1),
      ArrowLeft: () => along(before, -1),
      ArrowRight: () => along(behind, 1),
      Home: () => numbers[0],
      End: () => numbers.at(-1),
    };
    return nodes[found[key]?.() ?? -1]?.ref;
  };
}

/** The edges as few paths: for each way in which they are drawn, one. */
export function linesOf(
  { edges }: Picture,
  stateOf: (ref: string) => Flow["nodes"][number]["state"],
): readonly { readonly tone: Tone; readonly isAnyEnd: boolean; readonly path: string }[] {
  const lines = new Map<string, { tone: Tone; isAnyEnd: boolean; path: string }>();
  // All edges behind a gate come from the same nodes.
  const tones = new Map<PictureEdge["from"], Tone>();
  for (const { path, from, isAnyEnd } of edges) {
    const tone = tones.get(from) ?? toneOf(from, stateOf);
    tones.set(from, tone);
    const key = `${tone} ${isAnyEnd}`;
    const line = lines.get(key);
    if (line) line.path += path;
    else lines.set(key, { tone, isAnyEnd, path });
  }
  return [...lines.values()];
}

function toneOf(from: PictureEdge["from"], stateOf: (ref: string) => Flow["nodes"][number]["state"]): Tone {
  let isDone = true;
  for (const { ref, isNeeded } of from) {
    const state = stateOf(ref);
    if (state === "rejected" && isNeeded) return "bad";
    isDone &&= state === "completed" || state === "rejected";
  }
  return isDone ? "done" : "open";
}
