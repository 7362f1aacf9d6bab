/** A picture of a graph in layers, for pages: it is small, and imports nothing that needs Node. */
import { eachEdge, type GraphEdges, layersOf } from "./layers.ts";

/** How often the layers are ordered, and then moved. */
const SWEEPS = 8;

/** The room that an edge needs in a layer that it passes; a node needs 1. */
const BEND = 0.4;

/** Most bends of a graph. The edges that find no room are straight. */
const MOST_BENDS = 10_000;

export interface LayoutSizes {
  /** From the middle of a layer to that of the next. @default 160 */
  readonly layer?: number | undefined;
  /** Between the middles of two nodes of a layer, at least. @default 40 */
  readonly node?: number | undefined;
}

/** Along the layers, and across. Whole numbers from 0. */
export type Point = readonly [along: number, across: number];

export interface FlowLayout {
  /** The farthest point. */
  readonly size: Point;
  /** The middle of each node. */
  readonly nodes: readonly Point[];
  /**
   * For each edge its points to the node that waits: from the other node, or from where it leaves an earlier edge of that
   * node. So each piece is there once.
   */
  readonly edges: readonly (readonly Point[])[];
}

/** A node, or where edges of one node pass a layer. */
interface Place {
  readonly layer: number;
  readonly room: number;
  readonly before: Place[];
  readonly behind: Place[];
  /** Its position in the layer. While layers are ordered, from 0 to 1. */
  at: number;
}

/**
 * Draws a graph in layers, with few crossings and straight edges.
 * @returns the same for the same graph
 */
export function layoutFlow(edges: GraphEdges, sizes: LayoutSizes = {}): FlowLayout {
  const steps = layoutSteps(edges, sizes);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** As {@link layoutFlow}, in some twenty steps, between which a page can do something else. */
export function* layoutSteps(
  edges: GraphEdges,
  { layer = 160, node = 40 }: LayoutSizes = {},
): Generator<void, FlowLayout> {
  const layers: Place[][] = [];
  const add = (number: number, room: number): Place => {
    const place = { layer: number, room, before: [], behind: [], at: 0 };
    (layers[number] ??= []).push(place);
    return place;
  };
  const nodes = layersOf(edges).map((number) => add(number, 1));
  const lines = linesOf(edges, nodes, add);

  layers.forEach(spread);
  yield* sweep(layers, (places, side) => {
    for (const place of places) place.at = wanted(place, [side]);
    const ordered = places.toSorted((one, other) => one.at - other.at);
    spread(Object.assign(places, ordered));
  });
  yield* sweep(layers, straighten);

  const all = layers.flat();
  const least = all.reduce((min, { at }) => Math.min(min, at), Infinity);
  const most = all.reduce((max, { at }) => Math.max(max, at), least);
  const across = (at: number) => Math.round((at - least) * node);
  const point = (place: Place): Point => [place.layer * layer, across(place.at)];
  return {
    size: all.length > 0 ? [(layers.length - 1) * layer, across(most)] : [0, 0],
    nodes: nodes.map(point),
    edges: lines.map((line) => line.map(point)),
  };
}

/** The places of each edge. One that passes layers has bends there, which the edges of its node share. */
function linesOf(
  edges: GraphEdges,
  nodes: readonly Place[],
  add: (layer: number, room: number) => Place,
): Place[][] {
  const bendsOf = nodes.map((): Place[] => []);
  const lines: Place[][] = [];
  let left = MOST_BENDS;
  const link = (one: Place, other: Place) => {
    one.behind.push(other);
    other.before.push(one);
  };
  eachEdge(edges, (from, to, edge) => {
    const [source, target, bends] = [nodes[from], nodes[to], bendsOf[from]] as [Place, Place, Place[]];
    const passed = target.layer - source.layer - 1;
    const more = Math.max(0, passed - bends.length);
    if (more > left) {
      lines[edge] = [source, target];
      return;
    }
    let last = bends[passed - more - 1] ?? source;
    const line = [last];
    const goTo = (place: Place) => {
      link(last, place);
      line.push(place);
      last = place;
    };
    for (let i = 0; i < more; i++) {
      goTo(add(source.layer + bends.length + 1, BEND));
      bends.push(last);
      left--;
    }
    goTo(target);
    lines[edge] = line;
  });
  return lines;
}

type Side = "before" | "behind";

/** Visits the layers from the first to the last by what is before them, then back by what is behind them, and so on. */
function* sweep(
  layers: readonly Place[][],
  visit: (places: Place[], side: Side) => void,
): Generator<void, void> {
  for (let i = 0; i < SWEEPS; i++) {
    yield;
    if (i % 2 === 0) layers.forEach((places) => visit(places, "before"));
    else layers.toReversed().forEach((places) => visit(places, "behind"));
  }
}

/** The mean position of the neighbours of a place on these sides; its own if it has none there. */
function wanted(place: Place, sides: readonly Side[]): number {
  let sum = 0;
  let count = 0;
  for (const side of sides) {
    for (const { at } of place[side]) sum += at;
    count += place[side].length;
  }
  return count > 0 ? sum / count : place.at;
}

/** Spreads the places of a layer from 0 to 1, in their order. */
function spread(places: readonly Place[]): void {
  places.forEach((place, i) => (place.at = (i + 0.5) / places.length));
}

/**
 * Moves the places of a layer towards their neighbours, without changing their order: the sum of the squares of what is
 * left is the least that their rooms allow. Where places want to be too near to each other, a block of them moves as one.
 */
function straighten(places: readonly Place[]): void {
  const blocks: { sum: number; count: number }[] = [];
  let offset = 0;
  const offsets = places.map(
    (place, i) => (offset += i > 0 ? (place.room + (places[i - 1] as Place).room) / 2 : 0),
  );
  for (const [i, place] of places.entries()) {
    let sum = wanted(place, ["before", "behind"]) - (offsets[i] as number);
    let count = 1;
    for (let last = blocks.at(-1); last && last.sum / last.count > sum / count; last = blocks.at(-1)) {
      sum += last.sum;
      count += last.count;
      blocks.pop();
    }
    blocks.push({ sum, count });
  }
  let i = 0;
  for (const { sum, count } of blocks) {
    for (const end = i + count; i < end; i++) (places[i] as Place).at = sum / count + (offsets[i] as number);
  }
}
